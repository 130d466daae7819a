// SPDX-License-Identifier: MIT OR Apache-2.0
// Churn SECONDS: threads keep objects that know the sum of their bytes, replace them at
// random and check each one they meet, so that the collector moves and frees all the time.
// Prints what the threads counted wrong, and exits with 1 if that is anything.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

final class Churn {
    static final AtomicLong WRONG = new AtomicLong();
    static final AtomicLong CHECKED = new AtomicLong();

    static final class Node {
        final byte[] bytes;
        final long sum;
        final int key;
        Node next;

        Node(SplittableRandom random, int key, Node next) {
            this.key = key;
            bytes = new byte[16 + random.nextInt(random.nextInt(64) == 0 ? 40_000 : 700)];
            long total = key;
            for (int i = 0; i < bytes.length; i += 5) {
                bytes[i] = (byte) random.nextInt();
                total = total * 31 + bytes[i];
            }
            sum = total;
            this.next = next;
        }

        boolean right() {
            long total = key;
            for (int i = 0; i < bytes.length; i += 5) {
                total = total * 31 + bytes[i];
            }
            return total == sum;
        }
    }

    static void churn(int seed, long end) {
        SplittableRandom random = new SplittableRandom(seed);
        Node[] heads = new Node[256];
        Map<Integer, Node> newest = new HashMap<>();
        for (int round = 0; (round & 255) != 0 || System.nanoTime() < end; round++) {
            int at = random.nextInt(heads.length);
            heads[at] = new Node(random, round, random.nextInt(24) == 0 ? null : heads[at]);
            newest.put(at, heads[at]);
            int other = random.nextInt(heads.length);
            int last = Integer.MAX_VALUE;
            for (Node node = heads[other]; node != null; node = node.next) {
                if (!node.right() || node.key >= last) {
                    WRONG.incrementAndGet();
                }
                last = node.key;
                CHECKED.incrementAndGet();
            }
            if (newest.get(other) != heads[other]) {
                WRONG.incrementAndGet();
            }
            // Long chains are cut, so that what lives stays some tens of MiB.
            if (random.nextInt(4) == 0 && heads[other] != null) {
                heads[other].next = null;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
        List<Thread> threads = new ArrayList<>();
        for (int seed = 0; seed < 4; seed++) {
            int own = seed;
            Thread thread = new Thread(() -> churn(own, end));
            thread.setUncaughtExceptionHandler((t, e) -> {
                e.printStackTrace();
                WRONG.incrementAndGet();
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(CHECKED.get() / 1_000_000 + " million checked, " + WRONG.get() + " wrong");
        System.exit(WRONG.get() == 0 && CHECKED.get() > 0 ? 0 : 1);
    }
}
