package main

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// standbyOf starts a program in a process of its own that stands by, with a DATA_DIR of its own.
func (k *kit) standbyOf(addr, dir string) *child {
	k.t.Helper()
	before := k.environ
	defer func() { k.environ = before }()
	k.environ = append(slices.Clone(before), "DATA_DIR="+dir, "STANDBY=true")
	return k.launch(addr)
}

// standsBy waits until the program at an address says behind whom it stands, which contains a text.
func (k *kit) standsBy(c *child, behind string) {
	k.t.Helper()
	k.addr = c.addr
	k.eventually("the program to stand by", func(ctx context.Context) (bool, error) {
		c.runs(k.log)
		_, err := k.client("").call(ctx, http.MethodGet, "/readyz", "", nil)
		no := asAPIError(err)
		return no != nil && no.Status == http.StatusServiceUnavailable &&
			strings.Contains(no.Body, `"standby":{"status":"down","detail":"This program stands by`) &&
			strings.Contains(no.Body, behind), err
	})
}

// isReady waits until the program at an address serves.
func (k *kit) isReady(c *child) {
	k.t.Helper()
	k.addr = c.addr
	k.eventually("the program to take over", func(context.Context) (bool, error) {
		c.runs(k.log)
		status := k.statusOf(k.client(""), "/readyz")
		return status == http.StatusOK, &apiError{Status: status}
	})
}

// TestStandby_AProgramTakesOverFromOneThatIsKilledOrHangs: the second program serves nothing while the first one has
// the log, takes over when that is killed, and ends with an error when it was stopped for longer than the silence and
// another one has taken over from it.
func TestStandby_AProgramTakesOverFromOneThatIsKilledOrHangs(t *testing.T) {
	t.Parallel()
	dirs := []string{dataDir(t), dataDir(t)}
	k := newKit(t, "DATA_DIR="+dirs[0], "PLATFORM_ENCRYPTION_KEY="+strings.Repeat("QUJD", 10)+"QUI=",
		"JWT_SIGNING_KEY="+strings.Repeat("a signing key of the pair ", 2))
	first := k.standbyOf(freePort(t), dirs[0])
	k.isReady(first)
	k.command("admin", "create", "--email", testRootEmail, "--password", testPassword)
	k.login("", testRootEmail, testPassword)

	second := k.standbyOf(freePort(t), dirs[1])
	k.standsBy(second, "esdb://127.0.0.1:")
	for _, path := range []string{"/healthz", "/app/", "/subscribers", "/webhooks/mobile-money/c2b/confirmation/x"} {
		if status := k.statusOf(k.client(""), path); status != http.StatusServiceUnavailable {
			t.Errorf("GET %s is answered %d by a program that stands by", path, status)
		}
	}
	first.kill9()
	k.isReady(second)
	k.login("", testRootEmail, testPassword)

	first = k.standbyOf(first.addr, dirs[0])
	k.standsBy(first, "esdb://127.0.0.1:")
	if err := second.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	k.isReady(first)
	k.login("", testRootEmail, testPassword)
	if err := second.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	<-second.ended
	if code := second.cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("the program that was stopped ends with code %d", code)
	}
	if said := k.log.String(); !strings.Contains(said, "another node has taken over this log") {
		t.Error("it does not say why it ends")
	}
}

// TestStandby_TakesNothingWhereItCannotAnswerRouters: somebody has taken a port of RADIUS while it stood by. It ends,
// and has not taken the log from whom it stood behind.
func TestStandby_TakesNothingWhereItCannotAnswerRouters(t *testing.T) {
	t.Parallel()
	dirs := []string{dataDir(t), dataDir(t)}
	k := newKit(t, "PLATFORM_ENCRYPTION_KEY="+strings.Repeat("QUJD", 10)+"QUI=",
		"JWT_SIGNING_KEY="+strings.Repeat("a signing key of the pair ", 2))
	first := k.standbyOf(freePort(t), dirs[0])
	k.isReady(first)
	port, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	k.environ = append(k.environ, "RADIUS_AUTH_ADDR="+port.LocalAddr().String())
	second := k.standbyOf(freePort(t), dirs[1])
	k.standsBy(second, "esdb://127.0.0.1:")
	epoch := func() (n int64) {
		if err := k.db.Owner.QueryRow(t.Context(), `select epoch from `+k.db.Namespace.Schema("eventstore")+
			`.node`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := epoch()
	first.kill9()
	<-second.ended
	if code := second.cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("it ends with code %d", code)
	}
	if said := k.log.String(); !strings.Contains(said, "RADIUS_AUTH_ADDR") {
		t.Error("it does not say why it ends")
	}
	if after := epoch(); after != before {
		t.Errorf("it has taken the log: epoch %d after %d", after, before)
	}
}

// TestStandby_ProgramsBesideAPairOfNodesFindTheOneThatServes: their EVENTSTORE_URL names both.
func TestStandby_ProgramsBesideAPairOfNodesFindTheOneThatServes(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	nodes := []string{freePort(t), freePort(t)}
	stop := k.eventStoreAlone(nodes[0])
	taken := make(chan struct{})
	var out logBuffer
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	environ := append(slices.Clone(k.environ), "EVENTSTORE_ADDR="+nodes[1], "DATA_DIR="+dataDir(t))
	go func() {
		defer close(taken)
		program{environ: environ, out: &out, err: k.log}.run(ctx, []string{"eventstore", "--standby"})
	}()
	atEnd(t, func() { cancel(); <-taken })
	k.eventually("the second node to stand by", func(context.Context) (bool, error) {
		return strings.Contains(k.log.String(), "event store node stands by"), nil
	})
	k.environ = append(k.environ, "EVENTSTORE_URL=esdb://"+strings.Join(nodes, ",")+"?tls=false")
	k.app = k.startBeside(roles{roleAPI, roleProjections, roleProcesses, roleJobs})
	k.addr = k.app.Addr()
	k.signIn()
	k.subscriber("254711000411")
	if out.String() != "" {
		t.Fatalf("the second node serves beside the first one: %s", out.String())
	}
	stop()
	k.eventually("a customer to be made at the second node", func(ctx context.Context) (bool, error) {
		_, err := k.admin.call(ctx, "POST", "/subscribers", "", map[string]any{
			"firstName": "Customer", "lastName": "Later", "phone": "+254711000412",
		})
		return err == nil, err
	})
	if !strings.HasPrefix(out.String(), "esdb://"+nodes[1]) {
		t.Errorf("the second node says %q", out.String())
	}
}

// TestStandby_TakesNobodysWorkForLeftBehind: the program before it may have lost the log alone, and end soon.
func TestStandby_TakesNobodysWorkForLeftBehind(t *testing.T) {
	t.Parallel()
	for pair, want := range map[bool]bool{false: true, true: false} {
		s := storage{node: &embedded.Node{}, pair: pair}
		if got := s.sole(allRoles); got != want {
			t.Errorf("one of a pair %t: sole %t", pair, got)
		}
	}
}

// TestStandby_IsRefusedWhereNobodyCanTakeOver: a private PostgreSQL has one program, and a program without a node has
// no turn to wait for.
func TestStandby_IsRefusedWhereNobodyCanTakeOver(t *testing.T) {
	t.Parallel()
	elsewhere := "EVENTSTORE_URL=esdb://127.0.0.1:1?tls=false"
	for _, command := range []string{"serve", "eventstore"} {
		for want, environ := range map[string][]string{
			"--standby: needs DATABASE_URL": newPrivateKit(t).environ,
			"--standby: is for a program with a node of its own": append(newPrivateKit(t).environ,
				"DATABASE_URL=postgres://u@127.0.0.1:1/d", elsewhere),
		} {
			var out, errs logBuffer
			code := program{environ: environ, out: &out, err: &errs}.run(t.Context(), []string{command, "--standby"})
			if said := errs.String(); code != exitFailed || !strings.Contains(said, want) {
				t.Errorf("%s ends with code %d and %q, want %q", command, code, said, want)
			}
		}
	}
}
