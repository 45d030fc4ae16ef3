package embedded_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/memory"
)

// childVariable makes this test program run as a node, for tests that kill it. Its value is the database address.
const childVariable = "LASTMILE_TEST_EVENTSTORE_CHILD"

// TestMain runs the tests or, in a child process, the node.
func TestMain(m *testing.M) {
	if url := os.Getenv(childVariable); url != "" {
		if err := runChild(url, os.Args[1], os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// standby as a further argument of a child has it wait in line.
const standby = "standby"

// scavenging as a further argument of a child has it begin a pass over its log, which it tells after the first
// transaction, and stops in.
const scavenging = "scavenging"

// guarded as a further argument of a child has it ask for credentials.
const guarded = "guarded"

// shortSilence is that of nodes of which another one takes the log over in a test.
const shortSilence = time.Second

// runChild serves until the node fails, or until its standard input ends, which also happens when the parent process
// dies.
func runChild(database, schema, addr string, options []string) error {
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	memory.CollectSeldom(nil, memory.OfNode) // as the program does (cmd/lastmile)
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	cfg := embedded.Config{Pool: pool, Schema: schema, Addr: addr, Logger: quiet()}
	if slices.Contains(options, guarded) {
		cfg.Username, cfg.Password = "admin", "secret"
	}
	if cfg.Standby = slices.Contains(options, standby); len(options) > 0 {
		cfg.HolderSilence = shortSilence
		cfg.StandingBy = func(string) { fmt.Println(standby) }
	}
	n, err := embedded.Start(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Println(n.URL())
	if slices.Contains(options, scavenging) {
		err := embedded.Scavenge(ctx, n, func() {
			fmt.Println(scavenging)
			<-ctx.Done()
		})
		return errors.Join(err, n.Stop(context.WithoutCancel(ctx)))
	}
	var failed error
	select {
	case failed = <-n.Err():
	case <-ctx.Done():
	}
	return errors.Join(failed, n.Stop(context.WithoutCancel(ctx)))
}

// child is a node in a process of its own, so that a test can kill it.
type child struct {
	command *exec.Cmd
	input   io.WriteCloser
	printed *bufio.Scanner
	errors  bytes.Buffer // to be read when the process has ended
	url     string
}

// startChild starts a child and waits until it serves and has printed its address.
func startChild(t testing.TB, database, schema, addr string, options ...string) *child {
	t.Helper()
	c := launchChild(t, database, schema, addr, options...)
	c.url = c.line(t)
	return c
}

// launchChild starts a child, which is killed at the end of the test.
func launchChild(t testing.TB, database, schema, addr string, options ...string) *child {
	t.Helper()
	c := &child{command: exec.Command(os.Args[0], append([]string{schema, addr}, options...)...)}
	c.command.Env = append(os.Environ(), childVariable+"="+database, "GOMEMLIMIT=", "GOGC=")
	c.command.Stderr = io.MultiWriter(os.Stderr, &c.errors)
	input, err := c.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := c.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.command.Process.Kill() })
	c.input, c.printed = input, bufio.NewScanner(output)
	return c
}

// line waits for what the child prints next.
func (c *child) line(t testing.TB) string {
	t.Helper()
	if !c.printed.Scan() {
		t.Fatalf("the node did not start: %v", c.command.Wait())
	}
	return c.printed.Text()
}

// kill ends the process with SIGKILL, so that it cannot finish anything.
func (c *child) kill(t testing.TB) {
	t.Helper()
	if err := c.command.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.command.Wait() // the error only says that the process was killed
}
