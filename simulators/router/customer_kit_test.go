package router_test

import (
	"context"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/coa"
	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// radiusSecret is the secret of the router at the RADIUS server.
const radiusSecret = "radius-secret"

// isp is a directory in memory: the password of everybody is "pw-" and his name, and names with colons are devices.
type isp struct {
	records chan *radius.Record

	mu      sync.Mutex
	refused map[string]bool // by name
	asked   map[string]int
	rate    string
}

// Find implements radius.Directory.
func (i *isp) Find(_ *radius.NAS, r *radius.Request) *radius.Credential {
	name := string(r.UserName)
	i.mu.Lock()
	i.asked[name]++
	i.mu.Unlock()
	hash, _ := radius.NTHash("pw-" + name)
	return &radius.Credential{Password: []byte("pw-" + name), NTHash: hash, ByMAC: strings.Contains(name, ":")}
}

// Decide implements radius.Directory.
func (i *isp) Decide(q radius.Question, reply *radius.Reply) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if q.Outcome != radius.Verified || i.refused[string(q.Request.UserName)] {
		reply.Reject("Not paid")
		return
	}
	reply.Accept(radius.Attributes{}.MikroTik(8, i.rate).MikroTik(19, "garden").Octets(25, []byte("c1")))
}

// Take implements radius.Accounting.
func (i *isp) Take(r *radius.Record) {
	i.records <- r
	r.Acknowledge()
}

// refuse sets whether a customer is refused.
func (i *isp) refuse(name string, refused bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refused[name] = refused
}

// asks is how often a customer has asked.
func (i *isp) asks(name string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[name]
}

// ispKit is a RADIUS server and a router with customers.
type ispKit struct {
	*kit
	*isp
}

// newISPKit starts a server and a router that asks it. There are a PPPoE server "s" on ether5 and a hotspot "h" on
// ether4, both with addresses of their own.
func newISPKit(t *testing.T) *ispKit {
	t.Helper()
	k := &ispKit{kit: &kit{t: t, clock: clock.NewManual(start)}, isp: &isp{
		records: make(chan *radius.Record, 1000), refused: map[string]bool{}, asked: map[string]int{}, rate: "5M/10M",
	}}
	server, err := radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: k.isp, Accounting: k.isp, Clock: k.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.SetNAS([]*radius.NAS{{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Name: "r1", Secret: []byte(radiusSecret),
		Claimed: []radius.Claim{{Addr: netip.MustParseAddr("127.0.0.1")}},
	}})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	k.sim, err = router.New(router.Config{Clock: k.clock, Routers: []router.RouterConfig{{
		Name: "r1", Version: "7.16", Password: "secret", Tunnel: netip.MustParseAddr("10.99.0.2"),
		RADIUS: func(at netip.AddrPort) netip.AddrPort {
			return map[string]netip.AddrPort{
				"10.99.0.1:1812": server.AccessAddr(), "10.99.0.1:1813": server.AccountingAddr(),
			}[at.String()]
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.sim.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.sim.Stop(context.Background()) })
	k.Router = k.sim.Router("r1")
	k.prepare()
	return k
}

// prepare configures the router as an operator would.
func (k *ispKit) prepare() {
	k.t.Helper()
	port := strconv.Itoa(int(k.Handsets().CoAAddr().Port()))
	_, err := k.Script(`/radius add service=ppp,hotspot address=10.99.0.1 secret=` + radiusSecret + ` timeout=3s
/radius incoming set accept=yes port=` + port + `
/ppp aaa set use-radius=yes accounting=yes interim-update=5m
/ip pool add name=homes ranges=10.50.0.10-10.50.0.20
/ppp profile set default remote-address=homes
/interface pppoe-server server add service-name=s interface=ether5 disabled=no default-profile=default
/ip pool add name=guests ranges=10.60.0.10-10.60.0.20
/ip address add address=10.60.0.1/24 interface=ether4
/ip hotspot profile set default use-radius=yes login-by=http-chap,mac
/ip hotspot add name=h interface=ether4 address-pool=guests disabled=no
`)
	if err != nil {
		k.t.Fatal(err)
	}
}

// customer is a device with the right password.
func customer(name string) handset.Customer {
	return handset.Customer{Name: name, Password: "pw-" + name, Server: "s"}
}

// guest is a device at the hotspot with the right password.
func guest(name string) handset.Customer {
	return handset.Customer{Name: name, Password: "pw-" + name, Server: "h", Service: handset.Hotspot}
}

// signIn asks for a session and ends the test when the outcome is another one.
func (k *ispKit) signIn(c handset.Customer, want handset.Outcome) handset.Result {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	r, err := k.SignIn(ctx, c)
	if err != nil || r.Outcome != want {
		k.t.Fatalf("%s: %+v, %v; want %s", c.Name, r, err, want)
	}
	return r
}

// next returns the next report, which must be of this status.
func (k *ispKit) next(status radius.Status) *radius.Record {
	k.t.Helper()
	r := k.report()
	if r.Status != status {
		k.t.Fatalf("report %s of %s, want %s", r.Status, r.UserName, status)
	}
	return r
}

// replaced returns the reports of a session that ended and of one that began in its place: each session reports on
// its own, so that the two come in either order.
func (k *ispKit) replaced() (stop, start *radius.Record) {
	k.t.Helper()
	stop, start = k.report(), k.report()
	if stop.Status == radius.StatusStart {
		stop, start = start, stop
	}
	if stop.Status != radius.StatusStop || start.Status != radius.StatusStart {
		k.t.Fatalf("reports %s of %s and %s of %s", stop.Status, stop.UserName, start.Status, start.UserName)
	}
	return stop, start
}

// report waits for the next report.
func (k *ispKit) report() *radius.Record {
	k.t.Helper()
	select {
	case r := <-k.records:
		return r
	case <-time.After(waittest.Limit):
		k.t.Fatal("no report")
	}
	return nil
}

// idle waits until nothing is under way.
func (k *ispKit) idle() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	if err := k.Idle(ctx); err != nil {
		k.t.Fatal(err)
	}
}

// advance moves the clock when nothing is under way, and waits for what it causes.
func (k *ispKit) advance(d time.Duration) {
	k.t.Helper()
	k.idle()
	k.clock.Advance(d)
	k.idle()
}

// quiet checks that no report is left.
func (k *ispKit) quiet() {
	k.t.Helper()
	k.idle()
	select {
	case r := <-k.records:
		k.t.Errorf("one more report: %s of %s", r.Status, r.UserName)
	default:
	}
}

// state is a customer's device now.
func (k *ispKit) state(user string) router.CustomerState {
	k.t.Helper()
	for _, c := range k.Customers() {
		if c.User == user {
			return c
		}
	}
	k.t.Fatalf("no customer %s", user)
	return router.CustomerState{}
}

// until moves the clock second by second, also while requests are under way, until something holds.
func (k *ispKit) until(what string, holds func() bool) {
	k.t.Helper()
	for end := time.Now().Add(waittest.Limit); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			k.t.Fatalf("not reached: %s", what)
		}
		k.clock.Advance(100 * time.Millisecond)
	}
}

// plug switches a customer's device on, who must come online.
func (k *ispKit) plug(c handset.Customer) handset.Session {
	k.t.Helper()
	if err := k.SwitchOn(c.Name, c); err != nil {
		k.t.Fatal(err)
	}
	k.idle()
	s := k.state(c.Name)
	if s.State != "online" || s.Session == nil {
		k.t.Fatalf("%s is %+v", c.Name, s)
	}
	return *s.Session
}

// ask is the router as the RADIUS server asks it.
func (k *ispKit) ask() coa.Router {
	return coa.Router{Address: k.Handsets().CoAAddr(), Secret: []byte(radiusSecret)}
}

// named names a session in a request of the server.
func named(s handset.Session) coa.Session {
	return coa.Session{UserName: s.User, SessionID: s.ID, FramedIP: netip.MustParseAddr(s.Address)}
}
