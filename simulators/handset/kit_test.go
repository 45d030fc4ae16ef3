package handset_test

import (
	"context"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// noon is the instant at which tests begin.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// localhost is the address of server and NAS.
var localhost = netip.MustParseAddr("127.0.0.1")

// secret is the secret of the NAS.
var secret = []byte("xyzzy5461")

// asked has the parts of a request that the directory saw.
type asked struct {
	Service, Method, Called, Port, Session, Identifier string
	MACLogin, HostIP                                   bool
}

// isp is a directory in memory: the password of everybody is "pw-" and his name. It keeps what the accounting told.
type isp struct {
	reply func(user string, r *radius.Reply) // nil = accept without attributes

	mu      sync.Mutex
	asked   map[string]asked
	records chan *radius.Record
	hold    map[radius.Status]int // so many reports of a status get no answer
}

// Find implements radius.Directory. Names that begin with "no" are unknown; names with colons are devices.
func (i *isp) Find(_ *radius.NAS, r *radius.Request) *radius.Credential {
	name := string(r.UserName)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked[name] = asked{
		Service: r.Service.String(), Method: r.Method.String(), Called: string(r.CalledStation),
		Port: string(r.NASPortID), Session: string(r.SessionID), Identifier: string(r.NASIdentifier),
		MACLogin: r.MACLogin, HostIP: r.HostIP.IsValid(),
	}
	if strings.HasPrefix(name, "no") {
		return nil
	}
	hash, err := radius.NTHash("pw-" + name)
	if err != nil {
		return nil
	}
	return &radius.Credential{Password: []byte("pw-" + name), NTHash: hash, ByMAC: strings.Contains(name, ":")}
}

// Decide implements radius.Directory.
func (i *isp) Decide(q radius.Question, reply *radius.Reply) {
	switch {
	case q.Outcome != radius.Verified:
		reply.Reject("Wrong name or password")
	case i.reply != nil:
		i.reply(string(q.Request.UserName), reply)
	default:
		reply.Accept(nil)
	}
}

// Take implements radius.Accounting.
func (i *isp) Take(r *radius.Record) {
	i.mu.Lock()
	held := i.hold[r.Status] > 0
	if held {
		i.hold[r.Status]--
	}
	i.mu.Unlock()
	if held {
		r.Refuse()
		return
	}
	i.records <- r
	r.Acknowledge()
}

// kit is a server and a NAS on this machine.
type kit struct {
	*handset.NAS

	t     *testing.T
	isp   *isp
	clock *clock.Manual
}

// start starts a server and a NAS; set changes the NAS before.
func start(t *testing.T, reply func(string, *radius.Reply), set func(*handset.Config)) *kit {
	t.Helper()
	k := &kit{t: t, clock: clock.NewManual(noon), isp: &isp{
		reply: reply, asked: map[string]asked{}, records: make(chan *radius.Record, 20_000),
		hold: map[radius.Status]int{},
	}}
	server, err := radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: k.isp, Accounting: k.isp, Clock: k.clock,
		Sockets: 2, Limits: radius.Limits{Rate: 1_000_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.SetNAS([]*radius.NAS{{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Name: "r1", Secret: secret,
		Own: []netip.Addr{localhost},
	}})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	cfg := handset.Config{
		Server: server.AccessAddr(), Accounting: server.AccountingAddr(), Secret: secret, Clock: k.clock, Seed: 1,
	}
	if set != nil {
		set(&cfg)
	}
	if k.NAS, err = handset.New(cfg); err != nil {
		t.Fatal(err)
	}
	if err := k.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Stop)
	return k
}

// signIn signs a customer in with the right password unless he has one.
func (k *kit) signIn(c handset.Customer) handset.Result {
	k.t.Helper()
	if c.Password == "" && c.Method != handset.MACLogin {
		c.Password = "pw-" + c.Name
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	r, err := k.SignIn(ctx, c)
	if err != nil {
		k.t.Fatal(err)
	}
	return r
}

// online signs a customer in, who must be accepted, and returns the session.
func (k *kit) online(c handset.Customer) handset.Session {
	k.t.Helper()
	r := k.signIn(c)
	if r.Outcome != handset.Accepted {
		k.t.Fatalf("%s: %+v", c.Name, r)
	}
	return *r.Session
}

// next waits for a report that the server has taken.
func (k *kit) next(status radius.Status) *radius.Record {
	k.t.Helper()
	select {
	case r := <-k.isp.records:
		if r.Status != status {
			k.t.Fatalf("report %s of %s, want %s", r.Status, r.UserName, status)
		}
		return r
	case <-time.After(waittest.Limit):
		k.t.Fatalf("no report %s", status)
	}
	return nil
}

// settled waits until nothing is under way, and checks that no report is left.
func (k *kit) settled() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	if err := k.Idle(ctx); err != nil {
		k.t.Fatal(err)
	}
	select {
	case r := <-k.isp.records:
		k.t.Fatalf("one more report: %s of %s", r.Status, r.UserName)
	default:
	}
}

// untilWaiting waits until a request waits for its answer by the clock.
func (k *kit) untilWaiting() {
	k.t.Helper()
	for end := time.Now().Add(waittest.Limit); k.Waits() == 0; runtime.Gosched() {
		if time.Now().After(end) {
			k.t.Fatal("nothing waits")
		}
	}
}

// advance moves the clock when no request is under way, which would be repeated.
func (k *kit) advance(d time.Duration) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	if err := k.Idle(ctx); err != nil {
		k.t.Fatal(err)
	}
	k.clock.Advance(d)
}

// untilBad waits until an answer was passed over.
func (k *kit) untilBad() {
	k.t.Helper()
	for end := time.Now().Add(waittest.Limit); k.Statistics().BadReplies == 0; runtime.Gosched() {
		if time.Now().After(end) {
			k.t.Fatal("no answer was passed over")
		}
	}
}
