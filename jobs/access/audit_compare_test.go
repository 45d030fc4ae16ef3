package accessjobs_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// town is one router that shows exactly what its customers are entitled to.
type town struct {
	shown   routerplan.Observed
	known   accessjobs.Known
	present map[id.Subscription]directory.Present
	names   map[string]id.Subscription
}

// newTown makes a router without customers.
func newTown() *town {
	t := &town{present: map[id.Subscription]directory.Present{}, names: map[string]id.Subscription{}}
	t.shown.Garden = map[string]bool{}
	t.known = accessjobs.Known{
		Org: id.Derive[id.Organization]("test", "acme"), Device: id.Derive[id.Device]("test", "tower"), At: noon,
		Present: func(s id.Subscription) directory.Present { return t.present[s] },
		Holder: func(row routerplan.ObservedSession) (id.Subscriber, id.Subscription) {
			s := t.names[row.User]
			return id.As[id.Subscriber](s), s
		},
	}
	return t
}

// add brings a customer online: with a degree of access, by PPPoE or a hotspot, with a limit or without one.
func (t *town) add(name string, access entitlement.Access, hotspot, limited bool) {
	n := len(t.known.Open) + 1
	subscription := id.Derive[id.Subscription]("test", name)
	p := directory.Present{Grant: directory.Grant{Access: access}, Code: entitlement.CodePaid}
	if limited {
		p.Grant.Down, p.Grant.Up, p.RateLimit = 10_000, 2_000, "2M/10M"
	}
	t.present[subscription], t.names[name] = p, subscription
	ip := netip.AddrFrom4([4]byte{100, 64, byte(n >> 8), byte(n)})
	mac := fmt.Sprintf("02:00:00:00:00:%02X", n)
	s := telemetry.Session{
		ID: id.Derive[telemetry.SessionID]("test", name, fmt.Sprint(n)), OrgID: t.known.Org, DeviceID: t.known.Device,
		SubscriberID: id.Derive[id.Subscriber]("test", name), SubscriptionID: subscription, Username: name, MAC: mac,
		Service: "pppoe", Called: "lan", SessionKey: fmt.Sprintf("81a%05x", n), IP: &ip, Stamp: "0123456789abcdef",
		StartedAt: noon.Add(-time.Hour),
	}
	row := routerplan.ObservedSession{
		Hotspot: hotspot, User: name, Address: ip.String(), MAC: mac, Radius: true, Uptime: time.Hour,
	}
	queue := routerplan.ObservedQueue{Target: ip.String(), Limit: "2000000/10000000"}
	if hotspot {
		s.Service, s.Called = "hotspot", "spot"
	} else {
		row.Key, row.Interface = s.SessionKey, fmt.Sprintf("<pppoe-%d>", n)
		queue.Target = row.Interface
	}
	t.known.Open = append(t.known.Open, s)
	t.shown.Sessions = append(t.shown.Sessions, row)
	if limited {
		t.shown.Queues = append(t.shown.Queues, queue)
	}
	if access == entitlement.WalledGarden {
		t.shown.Garden[ip.String()] = true
	}
}

// queue is the place of the queue of the i-th session.
func (t *town) queue(i int) int {
	s := t.shown.Sessions[i]
	return slices.IndexFunc(t.shown.Queues, func(q routerplan.ObservedQueue) bool {
		return q.Target == cmp.Or(s.Interface, s.Address)
	})
}

// kinds compares and gives the kinds, each once, sorted.
func (t *town) kinds() []events.AccessDifferenceKind {
	var out []events.AccessDifferenceKind
	for _, f := range accessjobs.Compare(t.shown, t.known) {
		out = append(out, f.Kind)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// disturbance changes one thing about the i-th customer, and gives the kinds that follow. The customer has a limit.
type disturbance func(t *town, i int) []events.AccessDifferenceKind

// disturbances are all ways in which one customer can differ.
var disturbances = map[string]disturbance{
	"cut without effect": func(t *town, i int) []events.AccessDifferenceKind {
		t.present[t.known.Open[i].SubscriptionID] = directory.Present{Code: entitlement.CodeExpired}
		return []events.AccessDifferenceKind{events.UnpaidButOnline}
	},
	"list entry": func(t *town, i int) []events.AccessDifferenceKind {
		address := t.shown.Sessions[i].Address
		if _, walled := t.shown.Garden[address]; walled {
			delete(t.shown.Garden, address)
			return []events.AccessDifferenceKind{events.UnpaidButOnline}
		}
		t.shown.Garden[address] = i%2 == 0
		return []events.AccessDifferenceKind{events.PaidButWalledIn}
	},
	"other speed": func(t *town, i int) []events.AccessDifferenceKind {
		t.shown.Queues[t.queue(i)].Limit = "2M/9M"
		return []events.AccessDifferenceKind{events.WrongRate}
	},
	"no queue": func(t *town, i int) []events.AccessDifferenceKind {
		at := t.queue(i)
		t.shown.Queues = slices.Delete(t.shown.Queues, at, at+1)
		return []events.AccessDifferenceKind{events.WrongRate}
	},
	"session unknown": func(t *town, i int) []events.AccessDifferenceKind {
		t.known.Open = slices.Delete(t.known.Open, i, i+1)
		return []events.AccessDifferenceKind{events.UnknownSession}
	},
	"refused against the log": func(t *town, _ int) []events.AccessDifferenceKind {
		away := id.Derive[id.Subscription]("test", "away")
		t.present[away] = directory.Present{Grant: directory.Grant{Access: entitlement.Full}}
		t.known.Refused = append(t.known.Refused, telemetry.Refusal{
			SubscriptionID: away, Code: "unpaid", FirstAt: noon, At: noon,
		})
		t.known.Wronged = func(s id.Subscription, code directory.Code, at time.Time) bool {
			return s == away && code == directory.CodeUnpaid && at.Equal(noon)
		}
		return []events.AccessDifferenceKind{events.PaidButOffline}
	},
	"another RADIUS": func(t *town, i int) []events.AccessDifferenceKind {
		t.known.Open[i].Stamp = ""
		return []events.AccessDifferenceKind{events.UnknownSession}
	},
	"session gone": func(t *town, i int) []events.AccessDifferenceKind {
		t.shown.Sessions = slices.Delete(t.shown.Sessions, i, i+1)
		return []events.AccessDifferenceKind{events.StaleSession}
	},
	"local login": func(t *town, i int) []events.AccessDifferenceKind {
		t.shown.Sessions[i].Radius = false
		return []events.AccessDifferenceKind{events.LocalBypass}
	},
	"user who is called like a trial": func(t *town, _ int) []events.AccessDifferenceKind {
		const mac = "02:00:00:00:FF:FD"
		t.shown.Sessions = append(t.shown.Sessions, routerplan.ObservedSession{
			Hotspot: true, User: "T-" + mac, Address: "100.127.0.3", MAC: mac, Uptime: time.Hour,
		})
		return []events.AccessDifferenceKind{events.LocalBypass}
	},
	"bypassed device": func(t *town, _ int) []events.AccessDifferenceKind {
		t.shown.Sessions = append(t.shown.Sessions, routerplan.ObservedSession{
			Hotspot: true, Bypass: true, Address: "100.127.0.1", MAC: "02:00:00:00:FF:FF",
		})
		return []events.AccessDifferenceKind{events.LocalBypass}
	},
	"slow port": func(t *town, i int) []events.AccessDifferenceKind {
		t.shown.Ports = []routerplan.ObservedPort{
			{Server: t.known.Open[i].Called, Name: "ether4", Rate: 9_000},
		}
		return []events.AccessDifferenceKind{events.PortBelowPlan}
	},
	"list entry of a network": func(t *town, i int) []events.AccessDifferenceKind {
		address := netip.MustParseAddr(t.shown.Sessions[i].Address)
		if _, walled := t.shown.Garden[address.String()]; walled {
			delete(t.shown.Garden, address.String())
			return []events.AccessDifferenceKind{events.UnpaidButOnline}
		}
		t.shown.Nets = []netip.Prefix{netip.PrefixFrom(address, 32)}
		return []events.AccessDifferenceKind{events.PaidButWalledIn}
	},
	"list entry of a range": func(t *town, i int) []events.AccessDifferenceKind {
		address := netip.MustParseAddr(t.shown.Sessions[i].Address)
		if _, walled := t.shown.Garden[address.String()]; walled {
			delete(t.shown.Garden, address.String())
			return []events.AccessDifferenceKind{events.UnpaidButOnline}
		}
		t.shown.Ranges = []routerplan.AddressRange{{First: address, Last: address}}
		return []events.AccessDifferenceKind{events.PaidButWalledIn}
	},
	"let in again and again": func(t *town, _ int) []events.AccessDifferenceKind {
		s := id.Derive[id.Subscription]("test", "in vain")
		t.present[s] = directory.Present{Grant: directory.Grant{Access: entitlement.Full}}
		t.known.Refused = append(t.known.Refused, telemetry.Refusal{
			SubscriptionID: s, Code: "no_session", FirstAt: noon.Add(-time.Hour), At: noon.Add(-time.Second),
		})
		return []events.AccessDifferenceKind{events.PaidButOffline}
	},
	"refused": func(t *town, _ int) []events.AccessDifferenceKind {
		s := id.Derive[id.Subscription]("test", "away")
		t.present[s] = directory.Present{Grant: directory.Grant{Access: entitlement.Full}}
		t.known.Refused = append(t.known.Refused, telemetry.Refusal{
			SubscriberID: id.Derive[id.Subscriber]("test", "away"), SubscriptionID: s, Code: "wrong_mac",
			FirstAt: noon.Add(-time.Hour), At: noon.Add(-time.Second),
		})
		return []events.AccessDifferenceKind{events.PaidButOffline}
	},
}

// drawTown makes a healthy router with some customers, the first one of whom has a limit. Some have two
// sessions.
func drawTown(t *rapid.T) *town {
	town := newTown()
	granted := rapid.SampledFrom([]entitlement.Access{
		entitlement.WalledGarden, entitlement.Throttled, entitlement.Full,
	})
	town.add("amina", granted.Draw(t, "access"), rapid.Bool().Draw(t, "hotspot"), true)
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"amina-1", "baraka", "chris", "baraka-1", "dora@isp", "e-2-1",
	}), 0, 6, rapid.ID).Draw(t, "others") {
		access, hotspot := granted.Draw(t, "access"), rapid.Bool().Draw(t, "hotspot")
		limited := rapid.Bool().Draw(t, "limited")
		town.add(name, access, hotspot, limited)
		if !hotspot && rapid.Bool().Draw(t, "twice") {
			town.add(name, access, hotspot, limited)
		}
	}
	town.shown.Ports = []routerplan.ObservedPort{
		{Server: "lan", Name: "ether4", Rate: 100_000}, {Server: "spot", Name: "ether5", Rate: 10_000},
	}
	return town
}

// TestCompare_AHealthyRouterHasNoDifference also with sessions that began a moment ago, and with customers who are
// switched off.
func TestCompare_AHealthyRouterHasNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		town := drawTown(t)
		if got := town.kinds(); len(got) > 0 {
			t.Fatalf("healthy, but %v", got)
		}
		town.shown.Sessions = append(town.shown.Sessions, routerplan.ObservedSession{
			User: "new", Key: "81a99999", Address: "100.127.0.2", Radius: true, Uptime: time.Minute,
		})
		town.known.Open = append(town.known.Open, telemetry.Session{
			ID: id.New[telemetry.SessionID](), Username: "other", Service: "pppoe", Stamp: "x",
			SubscriptionID: town.known.Open[0].SubscriptionID, StartedAt: noon.Add(-time.Minute),
		})
		town.known.Refused = append(town.known.Refused, telemetry.Refusal{
			SubscriptionID: town.known.Open[0].SubscriptionID, Code: "wrong_mac",
			FirstAt: noon.Add(-time.Minute), At: noon,
		}, telemetry.Refusal{
			SubscriptionID: town.known.Open[0].SubscriptionID, Code: "unpaid",
			FirstAt: noon.Add(-time.Hour), At: noon.Add(-time.Minute),
		}, telemetry.Refusal{
			SubscriptionID: id.Derive[id.Subscription]("test", "unpaid"), Code: "unpaid",
			FirstAt: noon.Add(-time.Hour), At: noon.Add(-time.Hour),
		})
		if got := town.kinds(); len(got) > 0 {
			t.Fatalf("on its way, but %v", got)
		}
	})
}

// TestCompare_EachDisturbanceIsExactlyItsKind whatever other customers are there, and is the same difference each time.
func TestCompare_EachDisturbanceIsExactlyItsKind(t *testing.T) {
	t.Parallel()
	for name, disturb := range disturbances {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				town := drawTown(t)
				want := disturb(town, 0)
				if got := town.kinds(); !slices.Equal(got, want) {
					t.Fatalf("%v, want %v", got, want)
				}
				first := accessjobs.Compare(town.shown, town.known)
				second := accessjobs.Compare(town.shown, town.known)
				if len(first) != 1 || first[0].DifferenceID != second[0].DifferenceID ||
					first[0].Expected == "" || first[0].Actual == "" {
					t.Fatalf("%+v", first)
				}
			})
		})
	}
}

// TestCompare_ATrialOfAHotspotIsNoDifference: whether it is shown, reported, or both, beside any other customers.
func TestCompare_ATrialOfAHotspotIsNoDifference(t *testing.T) {
	t.Parallel()
	const mac = "02:00:00:00:FF:FE"
	rapid.Check(t, func(t *rapid.T) {
		town := drawTown(t)
		if rapid.Bool().Draw(t, "shown") {
			town.shown.Sessions = append(town.shown.Sessions, routerplan.ObservedSession{
				Hotspot: true, Trial: true, User: "T-" + mac, Address: "100.127.0.2", MAC: mac, Uptime: time.Hour,
			})
		}
		if rapid.Bool().Draw(t, "reported") {
			town.known.Open = append(town.known.Open, telemetry.Session{
				ID: id.Derive[telemetry.SessionID]("test", "trial"), Username: "T-" + mac, MAC: mac, Service: "hotspot",
				StartedAt: noon.Add(-time.Hour),
			})
		}
		if got := town.kinds(); len(got) != 0 {
			t.Fatalf("%v", got)
		}
	})
}

// TestCompare_AnEntryThatIsNotOfTheSignInIsForPeople: routers show it as they show those of RADIUS, and ending the
// session would not take it away.
func TestCompare_AnEntryThatIsNotOfTheSignInIsForPeople(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{true, false} {
		town := newTown()
		town.add("amina", entitlement.Full, false, true)
		town.shown.Garden[town.shown.Sessions[0].Address] = true
		town.known.AsSignedIn = func(s telemetry.Session) bool { return same && s.ID == town.known.Open[0].ID }
		got := accessjobs.Compare(town.shown, town.known)
		if len(got) != 1 || got[0].Kind != events.PaidButWalledIn || (got[0].ByHand() != "") != same {
			t.Errorf("as at the sign-in %v: %+v", same, got)
		}
	}
}

// TestCompare_WhoeverHasTheSameAddressIsNamed: what the router does to an address, it does to both. The name is in the
// answer to the repair alone: what is recorded of a customer is sealed by that customer's key.
func TestCompare_WhoeverHasTheSameAddressIsNamed(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{true, false} {
		town := newTown()
		town.add("amina", entitlement.Full, false, true)
		town.add("brian", entitlement.WalledGarden, false, true)
		town.add("chege", entitlement.Full, false, true)
		address := netip.MustParseAddr("100.64.0.2")
		town.known.Open[0].IP, town.shown.Sessions[0].Address = &address, address.String()
		town.known.AsSignedIn = func(telemetry.Session) bool { return same }
		got := accessjobs.Compare(town.shown, town.known)
		const brian = `"brian", device 02:00:00:00:00:02`
		if len(got) != 1 || got[0].Kind != events.PaidButWalledIn ||
			!strings.Contains(got[0].Actual, "another session of the router has the same address") ||
			strings.Contains(got[0].Actual, "brian") {
			t.Fatalf("as at the sign-in %v: %+v", same, got)
		}
		if strings.Contains(got[0].ByHand(), brian) != same || !strings.Contains(accessjobs.InVain(got[0]), brian) {
			t.Errorf("as at the sign-in %v: %q, in vain %q", same, got[0].ByHand(), accessjobs.InVain(got[0]))
		}
	}
}

// TestCompare_AnotherDeviceWithTheAddressIsAnotherSession of the same customer at a hotspot, whose list has no ids.
func TestCompare_AnotherDeviceWithTheAddressIsAnotherSession(t *testing.T) {
	t.Parallel()
	another := []events.AccessDifferenceKind{events.StaleSession, events.UnknownSession}
	for name, c := range map[string]struct {
		mac, address string
		want         []events.AccessDifferenceKind
	}{
		"the same device":    {"02:00:00:00:00:01", "", nil},
		"a device unknown":   {"", "", nil},
		"another device":     {"02:00:00:00:00:09", "", another},
		"at another address": {"02:00:00:00:00:01", "100.64.9.9", another},
	} {
		town := newTown()
		town.add("amina", entitlement.Full, true, false)
		row := &town.shown.Sessions[0]
		row.MAC, row.Address = c.mac, cmp.Or(c.address, row.Address)
		if got := town.kinds(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
