package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// Size of the storm: bounded, so that the test stays under a minute.
const (
	stormKills   = 5
	stormPayers  = 8
	stormBetween = 6  // payments that must have happened between two kills
	stormRound   = 40 // payments that are begun for each of them
)

// TestKill9_PaymentStorm kills the program again and again while customers pay and the provider repeats and reorders.
// In the end every receipt of the provider is credited exactly once, and every balance equals its events.
func TestKill9_PaymentStorm(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	child := k.spawn(freePort(t))
	k.signIn()
	payers, accounts := map[string]string{}, map[string]string{}
	for n := range stormPayers {
		phone := fmt.Sprintf("2547110001%02d", n)
		payers[phone], accounts[phone] = k.subscriber(phone)
	}
	k.faults(provider.Faults{
		DuplicateCallbacks: 1, ReorderCallbacks: true, CallbackBeforeResponse: true, LoseResponse: 0.1, C2BAlso: true,
	})
	k.paybillReady()

	ctx, stop := context.WithCancel(t.Context())
	var storm sync.WaitGroup
	turns := make(chan int, stormKills*stormRound)
	for phone, account := range accounts {
		storm.Go(func() { k.payInTurn(ctx, phone, account, payers[phone], turns) })
	}
	for round := range stormKills {
		before := len(k.sim.Transactions())
		for n := range stormRound {
			turns <- round*stormRound + n + 1
		}
		k.eventually("payments between two kills", func(context.Context) (bool, error) {
			return len(k.sim.Transactions()) >= before+stormBetween, nil
		})
		child.kill9()
		child = k.spawn(child.addr)
	}
	stop()
	storm.Wait()
	k.settled()
	child.kill9()

	k.start() // the last start is in this process, so that the log itself can be read
	k.faults(provider.Faults{C2BAlso: true})
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.repeatEverything(child.addr)
	t.Logf("%d payments, %d kills", len(k.sim.Transactions()), stormKills)
	k.sameBooks(payers)
}

// payInTurn lets a customer pay once for each turn, by paybill, and by prompt at every fourth (three in ten minutes at
// most: docs/rules/payments.md#prompt-limits), until ctx ends. Errors are expected and
// ignored.
func (k *kit) payInTurn(ctx context.Context, phone, account, subscriber string, turns <-chan int) {
	addr := k.sim.URL()[len("http://"):]
	provider := apiClient{addr: addr, host: addr}
	for {
		var n int
		select {
		case <-ctx.Done():
			return
		case n = <-turns:
		}
		if n%4 == 0 {
			_, _ = k.admin.call(ctx, http.MethodPost, "/payments/initiate", "", map[string]any{
				"subscriberId": subscriber, "amount": 100 + n,
			})
		}
		_, _ = provider.call(ctx, http.MethodPost, "/sim/paybill", "", map[string]any{
			"shortCode": testShortcode, "msisdn": phone, "amount": n, "billRefNumber": account,
		})
	}
}

// repeatEverything lets the provider send the callbacks of every payment once more, to the address at which the program
// runs now: lost callbacks arrive, and all others arrive again.
func (k *kit) repeatEverything(was string) {
	k.t.Helper()
	forward, err := net.Listen("tcp", was)
	if err != nil {
		k.t.Fatalf("take over the address: %v", err)
	}
	// the same program at the address that the provider knows
	server := &http.Server{Handler: k.app.door, ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(forward) }()
	k.t.Cleanup(func() { _ = server.Close() })
	for _, tx := range k.sim.Transactions() {
		k.sim.Resend(tx.ReceiptNumber)
		if tx.CheckoutRequestID != "" {
			k.sim.Resend(tx.CheckoutRequestID)
		}
	}
	k.settled()
}

// child is the program in an operating-system process of its own, which a test can kill.
type child struct {
	t    testing.TB
	addr string
	cmd  *exec.Cmd
}

// spawn starts the program in a process of its own at an address, and waits until it is ready.
func (k *kit) spawn(addr string) *child {
	k.t.Helper()
	c := &child{t: k.t, addr: addr, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(append(os.Environ(), k.environ...), childVariable+"=1", "HTTP_ADDR="+addr, "LOG_LEVEL=warn")
	c.cmd.Stderr, c.cmd.Stdout = k.log, k.log
	if err := c.cmd.Start(); err != nil {
		k.t.Fatalf("start the service: %v", err)
	}
	k.t.Cleanup(c.kill9)
	k.addr = addr
	k.eventually("service to be ready", func(context.Context) (bool, error) {
		status := k.statusOf(k.client(""), "/readyz")
		return status == http.StatusOK, &apiError{Status: status}
	})
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
