package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// reporting is an open house that tells who reported a session.
type reporting struct {
	openHouse
	heard chan string
}

// Take implements radius.Accounting.
func (r reporting) Take(rec *radius.Record) {
	r.heard <- rec.Status.String() + " " + rec.UserName
	rec.Acknowledge()
}

// TestSimulateRouter_CustomersSignInAtARealServer: the flag --radius leads to a server on other ports than the usual
// ones, which the routers' settings name.
func TestSimulateRouter_CustomersSignInAtARealServer(t *testing.T) {
	t.Parallel()
	house := reporting{heard: make(chan string, 100)}
	server, err := radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: house, Accounting: house,
		Clock: clock.System(), Sockets: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.SetNAS([]*radius.NAS{{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Name: "r1", Secret: []byte("s"),
		Claimed: []radius.Claim{{Addr: netip.MustParseAddr("127.0.0.1")}},
	}})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, server.Stop)
	sim, stop := simulateRouters(t, fmt.Sprintf("--radius %s --accounting-port %d", server.AccessAddr(),
		server.AccountingAddr().Port()))
	put := func(method, path, body string) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), method, sim+path, strings.NewReader(body))
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		if _ = answer.Body.Close(); answer.StatusCode/100 != 2 {
			t.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, text)
		}
	}
	put("POST", "/sim/routers/r1/script", `{"text":"/radius add service=ppp address=10.99.0.1 secret=s timeout=3s\n`+
		`/ppp aaa set use-radius=yes accounting=yes\n/ip pool add name=homes ranges=10.50.0.10-10.50.0.20\n`+
		`/ppp profile set default remote-address=homes\n/interface pppoe-server server add service-name=s `+
		`interface=ether5 disabled=no default-profile=default\n"}`)
	put("PUT", "/sim/routers/r1/customers/jane", `{"password":"jane"}`)
	if got := <-house.heard; got != "start jane" {
		t.Errorf("heard %q", got)
	}
	put("PUT", "/sim/routers/r1/customers/jane/power", `{"on":false}`)
	if got := <-house.heard; got != "stop jane" {
		t.Errorf("heard %q", got)
	}
	stop()
}

// simulateRouters runs the command, and gives the address of its control surface and what ends it.
func simulateRouters(t *testing.T, flags string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	ended := make(chan int, 1)
	var errs logBuffer
	go func() {
		p := program{environ: []string{}, out: out, err: &errs}
		ended <- p.run(ctx, strings.Fields("simulate router --addr 127.0.0.1:0 "+flags))
		_ = out.Close()
	}()
	lines := bufio.NewReader(printed)
	url, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return strings.TrimSpace(url), func() {
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("exit code %d: %s", code, errs.String())
		}
	}
}
