package main

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
)

// child is the program in an operating-system process of its own, which a test can kill.
type child struct {
	t     testing.TB
	addr  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
}

// begin starts a process, which is killed when the test ends.
func (c *child) begin() {
	c.t.Helper()
	c.ended = make(chan struct{})
	if err := c.cmd.Start(); err != nil {
		c.t.Fatalf("start %s: %v", c.cmd, err)
	}
	atEnd(c.t, c.kill9)
	go func() {
		_ = c.cmd.Wait() // fails with "killed", or with the code that the program has printed the cause of
		close(c.ended)
	}()
}

// runs fails the test when the process has ended, so that nobody waits for what it will not do.
func (c *child) runs(printed *logBuffer) {
	c.t.Helper()
	select {
	case <-c.ended:
		c.t.Fatalf("the program has ended: %v\n%s", c.cmd.ProcessState, printed.last(20))
	default:
	}
}

// spawn starts the program in a process of its own at an address, and waits until it is ready.
func (k *kit) spawn(addr string) *child {
	k.t.Helper()
	c := k.launch(addr)
	k.eventually("service to be ready", func(context.Context) (bool, error) {
		c.runs(k.log)
		status := k.statusOf(k.client(""), "/readyz")
		return status == http.StatusOK, &apiError{Status: status}
	})
	return c
}

// launch starts the program in a process of its own at an address. It is not ready yet.
func (k *kit) launch(addr string) *child {
	k.t.Helper()
	c := &child{t: k.t, addr: addr, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(append(os.Environ(), k.environ...), childVariable+"=1", "HTTP_ADDR="+addr, "LOG_LEVEL=warn")
	c.cmd.Stderr, c.cmd.Stdout = k.log, k.log
	c.begin()
	k.addr = addr
	return c
}

// kill9 ends the process with SIGKILL and waits until it is gone. A repetition does nothing.
func (c *child) kill9() {
	_ = c.cmd.Process.Kill()
	<-c.ended
}

// The ports that freePort gives. Systems give none of them to who listens at any port or connects to another one, so
// that nobody takes one between its choice and its use.
const (
	firstPort = 20_000
	manyPorts = 12_000
)

// The ports that were tried are counted, from anywhere, because other programs with the same tests may run.
var (
	portsFrom  = rand.Uint32N(manyPorts)
	portsTried atomic.Uint32
)

// freePort gives a loopback address at which no program listens, a new one each time.
func freePort(t testing.TB) string {
	t.Helper()
	var err error
	for range manyPorts {
		address := "127.0.0.1:" + strconv.Itoa(firstPort+int((portsFrom+portsTried.Add(1))%manyPorts))
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatalf("find a free port: %v", err)
	return ""
}
