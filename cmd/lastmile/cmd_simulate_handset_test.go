package main

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// openHouse is a directory that takes everybody whose password is his name, and an accounting that forgets.
type openHouse struct{}

// Find implements radius.Directory.
func (openHouse) Find(_ *radius.NAS, r *radius.Request) *radius.Credential {
	hash, err := radius.NTHash(string(r.UserName))
	if err != nil {
		return nil
	}
	return &radius.Credential{Password: append([]byte(nil), r.UserName...), NTHash: hash}
}

// Decide implements radius.Directory.
func (openHouse) Decide(q radius.Question, reply *radius.Reply) {
	if q.Outcome == radius.Verified {
		reply.Accept(nil)
	}
}

// Take implements radius.Accounting.
func (openHouse) Take(r *radius.Record) { r.Acknowledge() }

func TestSimulateHandset_PrintsHowItWent(t *testing.T) {
	t.Parallel()
	server, err := radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: openHouse{}, Accounting: openHouse{},
		Clock: clock.System(), Sockets: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.SetNAS([]*radius.NAS{{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Name: "r1", Secret: []byte("s"),
		Own: []netip.Addr{netip.MustParseAddr("127.0.0.1")},
	}})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, server.Stop)
	for args, want := range map[string]string{
		"--password {user}": "accepted 3  rejected 0  unanswered 0",
		"--password {n}":    "accepted 0  rejected 3  unanswered 0",
		"--kind hotspot --user {n}ab --password {user}":   "signed out 3  disconnected 0  changed 0",
		"--kind pppoe --method pap --password customer2 ": "accepted 1  rejected 2  unanswered 0",
	} {
		var out, errs logBuffer
		line := "simulate handset --addr 127.0.0.1:0 --secret s --count 3 --duration 1ms --radius " +
			server.AccessAddr().String() + " --accounting-port " +
			strconv.Itoa(int(server.AccountingAddr().Port())) + " " + args
		p := program{environ: []string{}, out: &out, err: &errs}
		if code := p.run(t.Context(), strings.Fields(line)); code != exitOK || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, printed %s%s", args, code, out.String(), errs.String())
		}
	}
}
