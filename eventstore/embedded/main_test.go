package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// childVariable makes this test program run as a node, for tests that kill it. Its value is the database address.
const childVariable = "LASTMILE_TEST_EVENTSTORE_CHILD"

// TestMain runs the tests or, in a child process, the node.
func TestMain(m *testing.M) {
	if url := os.Getenv(childVariable); url != "" {
		if err := runChild(url, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runChild serves until its standard input ends, which also happens when the parent process dies.
func runChild(database, schema, addr string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	n, err := embedded.Start(ctx, embedded.Config{Pool: pool, Schema: schema, Addr: addr, Logger: quiet()})
	if err != nil {
		return err
	}
	fmt.Println(n.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return n.Stop(ctx)
}

// child is a node in a process of its own, so that a test can kill it.
type child struct {
	command *exec.Cmd
	input   io.WriteCloser
	url     string
}

// startChild starts a child and waits until it serves and has printed its address.
func startChild(t *testing.T, database, schema, addr string) *child {
	t.Helper()
	c := &child{command: exec.Command(os.Args[0], schema, addr)}
	c.command.Env = append(os.Environ(), childVariable+"="+database, "GOMEMLIMIT=", "GOGC=")
	c.command.Stderr = os.Stderr
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
	c.input = input
	line := bufio.NewScanner(output)
	if !line.Scan() {
		t.Fatalf("the node did not start: %v", c.command.Wait())
	}
	c.url = line.Text()
	return c
}

// kill ends the process with SIGKILL, so that it cannot finish anything.
func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.command.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.command.Wait() // the error only says that the process was killed
}
