package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// child is the program in an operating-system process of its own, which a test can kill.
type child struct {
	t    testing.TB
	addr string
	cmd  *exec.Cmd
}

// spawn starts the program in a process of its own at an address, and waits until it is ready.
func (k *kit) spawn(addr string) *child {
	k.t.Helper()
	c := k.launch(addr)
	k.eventually("service to be ready", func(context.Context) (bool, error) {
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
	if err := c.cmd.Start(); err != nil {
		k.t.Fatalf("start the service: %v", err)
	}
	k.t.Cleanup(c.kill9)
	k.addr = addr
	return c
}

// kill9 ends the process with SIGKILL and waits until it is gone. A repetition does nothing.
func (c *child) kill9() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // always fails with "killed"
}

// freePort gives a loopback address at which no program listens at the moment.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer func() { _ = l.Close() }()
	return "127.0.0.1:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
