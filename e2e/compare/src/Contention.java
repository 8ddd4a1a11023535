import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Threads that take and release locks at a rate, four for each lock: says how many changes that were, in how many ms. */
public final class Contention {
    private static final int SESSIONS = 8;
    private static final int CONTENDERS = 4;

    public static void main(String[] args) throws Exception {
        String connect = args[0];
        String root = args[1];
        int locks = Integer.parseInt(args[2]);
        int threads = locks * CONTENDERS;
        // A lock that is taken and released is two changes.
        long periodNs = 2_000_000_000L * threads / Long.parseLong(args[3]);
        List<CuratorFramework> sessions = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            CuratorFramework session = CuratorFrameworkFactory.newClient(connect, 20_000, 10_000, new RetryOneTime(100));
            session.start();
            session.blockUntilConnected();
            sessions.add(session);
        }
        AtomicLong changes = new AtomicLong();
        List<Thread> all = new ArrayList<>();
        long begin = System.nanoTime();
        long end = begin + Long.parseLong(args[4]) * 1_000_000_000L;
        for (int i = 0; i < threads; i++) {
            InterProcessMutex mutex = new InterProcessMutex(sessions.get(i % SESSIONS), root + "/" + i / CONTENDERS);
            long first = begin + periodNs * i / threads;
            Thread thread = new Thread(() -> contend(mutex, changes, first, periodNs, end));
            thread.start();
            all.add(thread);
        }
        for (Thread thread : all) {
            thread.join();
        }
        System.out.println(changes.get() + " " + (System.nanoTime() - begin) / 1_000_000);
        for (CuratorFramework session : sessions) {
            session.close();
        }
    }

    private static void contend(InterProcessMutex mutex, AtomicLong changes, long first, long periodNs, long end) {
        try {
            for (long next = first; next < end; next += periodNs) {
                long early = next - System.nanoTime();
                if (early > 0) {
                    Thread.sleep(early / 1_000_000, (int) (early % 1_000_000));
                }
                mutex.acquire();
                mutex.release();
                changes.addAndGet(2);
            }
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }
}
