package directory_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4818"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// noon is the instant at which tests begin.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// safe is a vault in memory. While it is shut, nothing can be read.
type safe struct {
	mu   sync.Mutex
	has  map[id.Secret][]byte
	shut bool
	read chan struct{} // one signal for each query
}

// GetAll implements directory.Vault.
func (s *safe) GetAll(_ context.Context, refs []id.Secret) (map[id.Secret][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		select {
		case s.read <- struct{}{}:
		default:
		}
	}()
	if s.shut {
		return nil, errors.New("shut")
	}
	found := map[id.Secret][]byte{}
	for _, ref := range refs {
		if plain, has := s.has[ref]; has {
			found[ref] = plain
		}
	}
	return found, nil
}

// put adds a secret and gives its reference.
func (s *safe) put(plain string) id.Secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	ref := id.New[id.Secret]()
	s.has[ref] = []byte(plain)
	return ref
}

// kit is a directory behind a real server.
type kit struct {
	t        *testing.T
	safe     *safe
	clock    *clock.Manual
	refusals *directory.Refusals
	sessions *telemetry.Live
	dir      *directory.Directory
	server   *radius.Server
	told     chan []*radius.NAS // the routers after each change
	position uint64
	stop     func() // can be called again
}

// secret is that of routers in tests.
const secret = "xyzzy5461"

// newKit fills a directory with events and starts a server.
func newKit(t *testing.T, s *safe, history ...events.Event) *kit {
	t.Helper()
	k := &kit{
		t: t, safe: s, clock: clock.NewManual(noon), told: make(chan []*radius.NAS, 100),
	}
	k.refusals = directory.NewRefusals(k.clock)
	k.sessions = telemetry.NewLive(telemetry.LiveConfig{
		Clock: k.clock, SilentAfter: time.Hour,
		Limit: func(s id.Subscription) int { return k.dir.SessionLimit(s, k.clock.Now()) },
		End:   func(r telemetry.Replaced) { k.dir.MadeWay(r.MadeWay) },
	})
	k.dir = directory.New(directory.Config{
		ClassKey: []byte("key"), Refusals: k.refusals, Sessions: k.sessions, Development: true, Vouchers: codes,
		Clock: k.clock,
		SetNAS: func(list []*radius.NAS) {
			k.server.SetNAS(list)
			k.told <- list
		},
	})
	var err error
	k.server, err = radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: k.dir, Accounting: nobody{},
		Clock: k.clock, Sockets: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	k.apply(history...)
	loader := directory.NewLoader(k.dir, s, slog.New(slog.DiscardHandler))
	if err := loader.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := k.server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.stop = func() {
		k.server.Stop()
		loader.Stop()
	}
	t.Cleanup(k.stop)
	return k
}

// TestDirectory_WhoBeganWhileTheClockWasAheadKeepsWhatIsPaid: he was to be online at once, and he is.
func TestDirectory_WhoBeganWhileTheClockWasAheadKeepsWhatIsPaid(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.AddDate(0, 1, 0))...)...)
	k.accepted(request("amina", "pw"))
	k.clock.Set(noon.Add(-3 * time.Hour))
	k.accepted(request("amina", "pw"))
}

// nobody takes no record.
type nobody struct{}

// Take implements radius.Accounting.
func (nobody) Take(r *radius.Record) { r.Refuse() }

// apply applies events in their order.
func (k *kit) apply(list ...events.Event) {
	for _, e := range list {
		k.position++
		k.dir.Apply(events.Envelope{
			ID: id.New[id.Event](), Position: k.position, Type: e.EventType(), Event: e,
			Meta: events.Metadata{At: noon},
		})
	}
}

// request is a sign-in over PPPoE by PAP.
func request(name, password string) *layeh.Packet {
	p := layeh.New(layeh.CodeAccessRequest, []byte(secret))
	_ = rfc2865.UserName_SetString(p, name)
	_ = rfc2865.UserPassword_SetString(p, password)
	_ = rfc2865.ServiceType_Set(p, rfc2865.ServiceType_Value_FramedUser)
	_ = rfc2865.FramedProtocol_Set(p, rfc2865.FramedProtocol_Value_PPP)
	_ = rfc2865.CallingStationID_SetString(p, "AA:BB:CC:00:11:22")
	return p
}

// ask sends a request and gives the answer.
func (k *kit) ask(p *layeh.Packet) *layeh.Packet {
	k.t.Helper()
	answer, err := layeh.Exchange(k.t.Context(), p, k.server.AccessAddr().String())
	if err != nil {
		k.t.Fatal(err)
	}
	return answer
}

// refused checks that a sign-in is rejected with the text of a code.
func (k *kit) refused(p *layeh.Packet, code directory.Code) {
	k.t.Helper()
	answer := k.ask(p)
	if got := rfc2865.ReplyMessage_GetString(answer); answer.Code != layeh.CodeAccessReject || got != code.Message() {
		k.t.Errorf("%v %q, want a reject because of %s", answer.Code, got, code)
	}
}

// accepted checks that a sign-in is accepted, and gives its rate limit.
func (k *kit) accepted(p *layeh.Packet) (*layeh.Packet, string) {
	k.t.Helper()
	answer := k.ask(p)
	if answer.Code != layeh.CodeAccessAccept {
		k.t.Fatalf("%v %q", answer.Code, rfc2865.ReplyMessage_GetString(answer))
	}
	return answer, mikrotik(answer, 8)
}

// mikrotik is the text of an attribute of MikroTik; "" without one.
func mikrotik(p *layeh.Packet, number byte) string {
	for _, a := range p.Attributes {
		if a.Type == rfc2865.VendorSpecific_Type && bytes.HasPrefix(a.Attribute, []byte{0, 0, 0x3a, 0x8c, number}) {
			return string(a.Attribute[6:])
		}
	}
	return ""
}

// isp is an organization with a router and a customer.
type isp struct {
	org          id.Organization
	router       id.Device
	subscriber   id.Subscriber
	subscription id.Subscription
	terms        events.PlanTerms
}

// newISP makes ids and the terms of a plan.
func newISP() isp {
	return isp{
		org: id.New[id.Organization](), router: id.New[id.Device](), subscriber: id.New[id.Subscriber](),
		subscription: id.New[id.Subscription](), terms: events.PlanTerms{
			Name: "Home", Kind: "pppoe", Mode: events.Prepaid, Rates: events.Rates{Down: 10_000, Up: 1_500},
			Access: events.AccessTerms{Pool: "home"},
		},
	}
}

// begin registers the router at an address and creates the subscription.
func (i isp) begin(s *safe, tunnel, name, password string) []events.Event {
	return []events.Event{
		events.OrganizationCreated{OrgID: i.org, Billing: events.BillingSettings{Timezone: "Africa/Nairobi"}},
		events.DeviceRegistered{
			DeviceID: i.router, OrgID: i.org, TunnelAddress: tunnel, RadiusRef: s.put(secret),
			Details: events.DeviceDetails{Name: "tower", IPAddress: "203.0.113.1"},
		},
		events.SubscriptionCreated{
			SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber, Terms: i.terms, StartsAt: noon,
			Username: personal.Of(name), PasswordRef: s.put(password), CreatedAt: noon,
		},
	}
}

// paid activates the subscription and pays it until an instant.
func (i isp) paid(until time.Time) []events.Event {
	return []events.Event{
		events.SubscriptionExtended{SubscriptionID: i.subscription, SubscriberID: i.subscriber, PaidUntil: until},
		events.SubscriptionActivated{SubscriptionID: i.subscription, SubscriberID: i.subscriber, At: noon},
	}
}

// newSafe makes an empty vault.
func newSafe() *safe { return &safe{has: map[id.Secret][]byte{}, read: make(chan struct{}, 1)} }

func TestDirectory_APaymentOpensAtOnceAndABlockCloses(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, i.begin(s, "127.0.0.1", "amina", "pw")...)
	k.refused(request("amina", "pw"), directory.CodeUnpaid)
	k.apply(i.paid(noon.Add(time.Hour))...)
	answer, rate := k.accepted(request("amina", "pw"))
	if rate != "1500k/10M" || rfc2865.SessionTimeout_Get(answer) != 3600 ||
		rfc2869.FramedPool_GetString(answer) != "home" || rfc2869.AcctInterimInterval_Get(answer) != 300 {
		t.Errorf("accepted with %q, %v", rate, answer.Attributes)
	}
	if got, _, ours := directory.ReadClass([]byte("key"), rfc2865.Class_Get(answer)); !ours || got != i.subscription {
		t.Errorf("the class names %v, %v", got, ours)
	}
	k.apply(events.SubscriberBlocked{SubscriberID: i.subscriber})
	k.refused(request("amina", "pw"), directory.CodeBlocked)
	k.apply(events.SubscriberUnblocked{SubscriberID: i.subscriber})
	k.clock.Advance(time.Hour)
	k.refused(request("amina", "pw"), directory.CodeUnpaid)
	k.refused(request("amina", "guess"), directory.CodeWrongPassword)
	k.refused(request("nobody", "pw"), directory.CodeUnknownUser)
	got := map[string]int64{}
	for _, r := range k.refusals.Drain() {
		if known := r.SubscriberID == i.subscriber; r.OrgID != i.org || r.DeviceID != i.router ||
			known == (r.Code == "unknown_user") {
			t.Errorf("refusal %+v", r)
		}
		got[r.Code] = r.Count
	}
	want := map[string]int64{"unpaid": 2, "blocked": 1, "wrong_password": 1, "unknown_user": 1}
	if !maps.Equal(got, want) {
		t.Errorf("refusals %v, want %v", got, want)
	}
}

func TestDirectory_TheSameUsernameInTwoOrganizationsNeverMeets(t *testing.T) {
	t.Parallel()
	s, ours, theirs := newSafe(), newISP(), newISP()
	history := append(ours.begin(s, "127.0.0.1", "amina", "pw"), ours.paid(noon.Add(time.Hour))...)
	k := newKit(t, s, append(history, theirs.begin(s, "127.0.0.2", "amina", "other")...)...)
	k.accepted(request("amina", "pw"))
	k.refused(request("amina", "other"), directory.CodeWrongPassword)
	k.apply(events.SubscriptionEnded{SubscriptionID: theirs.subscription})
	k.accepted(request("amina", "pw"))
	class := directory.NewClass([]byte("key"), ours.subscription, directory.Grant{})
	if _, found := k.dir.Holder(theirs.org, class, "nobody", noon); found {
		t.Error("another organization's class was believed")
	}
	if got, found := k.dir.Holder(ours.org, nil, "amina", noon); !found || got.SubscriberID != ours.subscriber {
		t.Errorf("holder %+v %v", got, found)
	}
	class = directory.NewClass([]byte("key"), theirs.subscription, directory.Grant{})
	if got, found := k.dir.Holder(theirs.org, class, "", noon); !found || got.SubscriberID != theirs.subscriber {
		t.Errorf("holder of an ended subscription %+v %v", got, found)
	}
}

func TestDirectory_APasswordCountsUntilTheVaultHasGivenTheNext(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	k.accepted(request("amina", "pw"))
	gone := events.SubscriptionCredentialsSet{
		SubscriptionID: i.subscription, Username: personal.Of("amina"), PasswordRef: id.New[id.Secret](),
	}
	<-s.read
	k.apply(gone)
	<-s.read
	k.accepted(request("amina", "pw"))
	next := gone
	next.PasswordRef = s.put("new")
	k.apply(next)
	<-s.read
	k.eventually(func() bool { return k.ask(request("amina", "new")).Code == layeh.CodeAccessAccept })
	k.refused(request("amina", "pw"), directory.CodeWrongPassword)
}

// eventually repeats a check, each time after another packet.
func (k *kit) eventually(check func() bool) {
	k.t.Helper()
	for range 1_000 {
		if check() {
			return
		}
	}
	k.t.Fatal("it never came")
}

func TestDirectory_ADeviceKeepsItsSecretUntilItHasTheNext(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	history := append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)
	old := history[1].(events.DeviceRegistered).RadiusRef
	k := newKit(t, s, append(history, events.DeviceSetupApplied{DeviceID: i.router, RadiusRef: old})...)
	for len(k.told) > 0 {
		<-k.told
	}
	next := s.put("another")
	k.apply(events.DeviceCredentialsReplaced{DeviceID: i.router, Kind: events.CredentialRadius, Ref: next})
	for len(<-k.told) != 2 {
	}
	k.accepted(request("amina", "pw"))
	k.apply(events.DeviceBootstrapReported{DeviceID: i.router, RadiusRef: next})
	for len(<-k.told) != 1 {
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	late := request("amina", "pw")
	late.Secret = []byte("another")
	_ = rfc2865.UserPassword_SetString(late, "pw")
	if answer, err := layeh.Exchange(ctx, late, k.server.AccessAddr().String()); err != nil ||
		answer.Code != layeh.CodeAccessAccept {
		t.Errorf("with the new secret: %v %v", answer, err)
	}
}

func TestDirectory_ARouterIsKnownByItsAddresses(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, i.begin(s, "10.99.0.2", "amina", "pw")...)
	own, wan, elsewhere := netip.MustParseAddr("10.99.0.2"), netip.MustParseAddr("203.0.113.1"),
		netip.MustParseAddr("127.0.0.9")
	list := <-k.told
	if nas := list[len(list)-1]; nas.ID != i.router || nas.Org != i.org || nas.RequireMessageAuthenticator ||
		!slices.Equal(nas.Own, []netip.Addr{own}) || !slices.Equal(nas.Claimed, []radius.Claim{{Addr: wan, Since: 2}}) {
		t.Errorf("registered: %+v", nas)
	}
	k.apply(events.DeviceDetailsCorrected{DeviceID: i.router, Details: events.DeviceDetails{
		IPAddress: "203.0.113.1", ManagementAddress: "127.0.0.9:8728", RequireMessageAuthenticator: true,
	}})
	if nas := (<-k.told)[0]; !nas.RequireMessageAuthenticator ||
		!slices.Equal(nas.Claimed, []radius.Claim{{Addr: wan, Since: 2}, {Addr: elsewhere, Since: 4}}) {
		t.Errorf("corrected: %+v", nas)
	}
	k.apply(events.DeviceDecommissioned{DeviceID: i.router})
	if left := <-k.told; len(left) != 0 {
		t.Errorf("decommissioned: %v", left)
	}
}

func TestDirectory_DevicesAndLimits(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	i.terms.Access.OnLimit = events.RefuseSession
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	mine, other := radius.MAC{0xaa, 0xbb, 0xcc, 0, 0x11, 0x22}, radius.MAC{1}
	session := &telemetry.Session{
		ID: id.New[telemetry.SessionID](), SubscriptionID: i.subscription, DeviceID: i.router, MAC: mine.String(),
		UpdatedAt: noon,
	}
	observe := func() { k.sessions.Observe(telemetry.Committed{Sessions: []*telemetry.Session{session}}) }
	observe()
	k.accepted(request("amina", "pw")) // the same device again
	session.MAC = other.String()
	observe()
	k.refused(request("amina", "pw"), directory.CodeSessionLimit)
	session.EndedAt = &noon
	observe()
	k.accepted(request("amina", "pw"))
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: i.subscription, StaticIP: personal.Of("100.64.0.9"),
		MACAddresses: []personal.Text{personal.Of(other.String())},
	})
	k.refused(request("amina", "pw"), directory.CodeWrongMAC)
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: i.subscription, StaticIP: personal.Of("100.64.0.9"),
		MACAddresses: []personal.Text{personal.Of(mine.String())},
	})
	answer, _ := k.accepted(request("amina", "pw"))
	if got := rfc2865.FramedIPAddress_Get(answer).String(); got != "100.64.0.9" ||
		rfc2869.FramedPool_GetString(answer) != "" {
		t.Errorf("address %s", got)
	}
}

func TestDirectory_AHotspotSignsRegisteredDevicesIn(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	i.terms.Kind = "hotspot"
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	p := request("AA:BB:CC:00:11:22", "")
	_ = rfc2865.ServiceType_Set(p, rfc2865.ServiceType_Value_LoginUser)
	k.refused(p, directory.CodeUnknownUser)
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: i.subscription, MACAddresses: []personal.Text{personal.Of("AA:BB:CC:00:11:22")},
	})
	k.clock.Advance(time.Minute) // beyond the time in which a repeat gets the same answer
	k.accepted(p)
	k.apply(events.SubscriberForgotten{SubscriberID: i.subscriber})
	k.clock.Advance(time.Minute)
	k.refused(p, directory.CodeUnknownUser)
}

func TestDirectory_AddressesOfIPv6ComeFromTheSubscriptionOrThePlan(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	i.terms.Access.IPv6Pool, i.terms.Access.IPv6DelegatedPool = "links", "homes6"
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	answer, _ := k.accepted(request("amina", "pw"))
	if rfc3162.FramedIPv6Pool_GetString(answer) != "links" || mikrotik(answer, 22) != "homes6" {
		t.Errorf("from pools: %v", answer.Attributes)
	}
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: i.subscription, StaticIPv6Prefix: personal.Of("2001:db8:1::/56"),
	})
	answer, _ = k.accepted(request("amina", "pw"))
	if got := rfc4818.DelegatedIPv6Prefix_Get(answer); got.String() != "2001:db8:1::/56" || mikrotik(answer, 22) != "" {
		t.Errorf("its own network: %v", got)
	}
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: i.subscription, StaticIPv6Prefix: personal.Of("2001:db8:1::/64"),
	})
	answer, _ = k.accepted(request("amina", "pw"))
	if got := rfc3162.FramedIPv6Prefix_Get(answer); got.String() != "2001:db8:1::/64" ||
		mikrotik(answer, 22) != "homes6" {
		t.Errorf("its own link: %v", got)
	}
}

func TestClass_OnlyOursIsBelieved(t *testing.T) {
	t.Parallel()
	it := id.New[id.Subscription]()
	granted := directory.Grant{Access: entitlement.Throttled, Down: 5_000, Up: 1_000, Speed: 7, Rest: 9}
	class := directory.NewClass([]byte("key"), it, granted)
	if got, gave, ours := directory.ReadClass([]byte("key"), class); !ours || got != it || gave != granted {
		t.Errorf("ours is %v %+v %v", got, gave, ours)
	}
	for at := range class {
		forged := bytes.Clone(class)
		forged[at] ^= 1
		if _, _, ours := directory.ReadClass([]byte("key"), forged); ours {
			t.Errorf("forged at %d", at)
		}
	}
	if _, _, ours := directory.ReadClass([]byte("other"), class); ours {
		t.Error("another installation's")
	}
	if _, _, ours := directory.ReadClass([]byte("key"), nil); ours {
		t.Error("none")
	}
}
