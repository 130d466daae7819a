# SPDX-License-Identifier: MIT OR Apache-2.0
# QEMU saves a guest of 64 MiB that never ran: it reads all of its memory for zeros.
printf 'migrate "exec:cat > /dev/null"\ninfo migrate\nquit\n' |
    qemu-system-x86_64 -S -m 64 -nodefaults -no-user-config -display none -monitor stdio |
    tr -d '\r' | grep -a -m 1 'duplicate:'
