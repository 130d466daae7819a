# SPDX-License-Identifier: MIT OR Apache-2.0
# redis-server and its benchmark: 20,000 values of 256 bytes.
redis-server --port 0 --unixsocket /tmp/redis.sock --save '' --logfile /dev/null &
until redis-cli -s /tmp/redis.sock ping >/dev/null 2>&1; do sleep 0.1; done
redis-benchmark -s /tmp/redis.sock -n 20000 -r 20000 -d 256 -t set,get -P 8 -q >/dev/null
redis-cli -s /tmp/redis.sock shutdown nosave
wait
