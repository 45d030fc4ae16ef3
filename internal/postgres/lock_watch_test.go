package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// lockWatcher is a database whose connection of locks a test watches.
type lockWatcher struct {
	*postgres.DB
	t    *testing.T
	told chan struct{}
}

// watch begins to watch a database.
func watch(t *testing.T, db *postgres.DB) lockWatcher {
	t.Helper()
	w := lockWatcher{db, t, make(chan struct{}, 1000)}
	if err := db.Watch(t.Context(), func() { w.told <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	return w
}

// hears waits until an outage is told, and gives the time that this took.
func (w lockWatcher) hears(of string) time.Duration {
	w.t.Helper()
	began := time.Now()
	select {
	case <-w.told:
	case <-time.After(waittest.Limit):
		w.t.Fatalf("nobody was told of %s", of)
	}
	return time.Since(began)
}

// quiet checks that no outage was told.
func (w lockWatcher) quiet(of string) {
	w.t.Helper()
	if n := len(w.told); n != 0 {
		w.t.Errorf("%s was told as %d outages", of, n)
	}
}

// lock takes a lock that is free.
func (w lockWatcher) lock(name string) *postgres.Lock {
	w.t.Helper()
	l, got, err := w.TryLock(w.t.Context(), name)
	if err != nil || !got {
		w.t.Fatalf("lock %s: %v, %v", name, got, err)
	}
	return l
}

// backend gives the process that serves the connection of a lock.
func (w lockWatcher) backend(name string) (pid int) {
	w.t.Helper()
	w.Owner.Reset() // connections of before an outage fail once
	err := w.Owner.QueryRow(w.t.Context(), `select pid from pg_locks where locktype = 'advisory' and granted
		and (classid::bigint << 32) | objid::bigint = $1`, w.Namespace.LockKey(name)).Scan(&pid)
	if err != nil {
		w.t.Fatal(err)
	}
	return pid
}

// TestWatch_TellsOfAnEndWithoutAnyStatement: nobody uses the locks when their connection ends, and the next one tells
// that nobody has watched in between.
func TestWatch_TellsOfAnEndWithoutAnyStatement(t *testing.T) {
	t.Parallel()
	w := watch(t, pgtest.New(t))
	first, second := w.lock("first"), w.lock("second")
	waits := make(chan error)
	go func() {
		_, err := w.Lock(t.Context(), "first")
		waits <- err
	}()
	w.quiet("the use of locks")
	if _, err := w.Owner.Exec(t.Context(), `select pg_terminate_backend($1)`, w.backend("second")); err != nil {
		t.Fatal(err)
	}
	w.hears("the end of the connection")
	w.hears("the next connection")
	if err := <-waits; err != nil { // a holder of this program is followed at once
		t.Error(err)
	}
	for _, l := range []*postgres.Lock{first, second} {
		if err := l.Ping(t.Context()); !errors.Is(err, postgres.ErrLockLost) {
			t.Errorf("a lost lock says %v", err)
		}
		l.Unlock()
	}
	w.lock("second").Unlock()
	w.quiet("the life of the next connection")
}

func TestWatch_TellsOfNothingThatWasAskedFor(t *testing.T) {
	t.Parallel()
	w := watch(t, pgtest.New(t))
	held := w.lock("held")
	w.lock("x").Unlock()
	limited, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	if _, err := w.Lock(limited, "held"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who waited no longer got %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_ = held.Ping(gone)
	_, _, _ = w.TryLock(gone, "y")
	if err := held.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	w.Close()
	w.Close()
	if err := w.Watch(t.Context(), func() {}); err == nil {
		t.Error("a closed database is watched")
	}
	w.quiet("the use and the end of locks")
}

// TestWatch_TellsOfAnOutageHoweverShort: PostgreSQL restarts at once, when told to, when killed and in good order, and
// is silent for a moment.
func TestWatch_TellsOfAnOutageHoweverShort(t *testing.T) {
	t.Parallel()
	c := startCluster(t, clusterDir(t))
	db, err := postgres.Open(t.Context(), postgres.Config{URL: c.URL(), Namespace: "x", MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	w := watch(t, db)
	for of, how := range map[string]syscall.Signal{
		"a fast stop": syscall.SIGINT, "an immediate stop": syscall.SIGQUIT, "a kill": syscall.SIGKILL,
	} {
		held := w.lock("x")
		w.quiet("a lock before " + of)
		if err := syscall.Kill(c.PID(), how); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		w.hears(of)
		if err := c.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		held.Unlock()
		w.lock("x").Unlock()
		w.hears("the connection after " + of)
	}
	held := w.lock("x")
	pid := w.backend("x")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	time.AfterFunc(3*time.Second, func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	if err := held.Ping(t.Context()); err != nil {
		t.Errorf("three seconds of silence lose the lock: %v", err)
	}
	w.hears("silence")
	if waited := time.Since(began); waited < 3*time.Second {
		t.Errorf("PostgreSQL answered after %v", waited)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(8*time.Second, func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	if held.Ping(t.Context()) == nil {
		t.Error("a silent connection keeps its lock")
	}
	w.hears("long silence")
	w.hears("the end of a silent connection")
	held.Unlock()
}

// lockIdles is a little longer than the time after which the end of an idle connection is waited for.
const lockIdles = 11 * time.Millisecond

// TestWatch_HoldsWhileManyUseTheLocks: eight goroutines use locks, and the connection ends again and again.
func TestWatch_HoldsWhileManyUseTheLocks(t *testing.T) {
	t.Parallel()
	w := watch(t, pgtest.New(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				l, got, err := w.TryLock(ctx, "router "+strconv.Itoa((n+i)%3))
				if err == nil && got {
					_ = l.Ping(ctx)
					l.Unlock()
				}
				loop.Sleep(ctx, time.Duration(i%3)*lockIdles) // so that the wait begins, or does not
			}
		})
	}
	for round := range 20 {
		tag, err := w.Owner.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity
			where application_name = 'lastmile locks' and pid in (select pid from pg_locks where locktype = 'advisory'
			and (classid::bigint << 32) | objid::bigint = any($1))`, []int64{
			w.Namespace.LockKey("router 0"), w.Namespace.LockKey("router 1"), w.Namespace.LockKey("router 2"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if tag.RowsAffected() > 0 {
			w.hears(fmt.Sprint("end ", round))
		}
	}
	cancel()
	all.Wait()
	for n := range 3 {
		w.lock("router " + strconv.Itoa(n)).Unlock()
	}
}
