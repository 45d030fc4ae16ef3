package accessjobs_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// granted makes a session one whose sign-in gave what another one had, as the program does that answers a router and
// does not know what has changed since.
func (k *kit) granted(s, as telemetry.Session) telemetry.Session {
	k.t.Helper()
	if err := k.store.Regrant(k.t.Context(), s.ID, telemetry.Given{
		Access: as.Access, RateDown: as.RateDown, RateUp: as.RateUp, Stamp: as.Stamp,
	}); err != nil {
		k.t.Fatal(err)
	}
	return k.session(s)
}

// onlineWith signs the customer in with another device and gives the recorded session.
func (k *kit) onlineWith(mac string) telemetry.Session {
	k.t.Helper()
	r, err := k.nas.SignIn(k.t.Context(), handset.Customer{Name: "amina", Password: "pw", MAC: mac})
	if err != nil || r.Outcome != handset.Accepted {
		k.t.Fatalf("sign in: %+v, %v", r, err)
	}
	k.idle()
	list, err := k.store.OpenOf(k.t.Context(), k.subscriber)
	at := slices.IndexFunc(list, func(s telemetry.Session) bool { return s.MAC == mac })
	if err != nil || at < 0 {
		k.t.Fatalf("sessions %+v, %v", list, err)
	}
	return list[at]
}

// moves gives the customer another address.
func (k *kit) moves(address string) {
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: k.subscription, SubscriberID: k.subscriber, StaticIP: personal.Of(address),
	})
}

// works runs everything that can end a session: the job of an event, the look at all sessions and the router's job. It
// reports whether a session has ended.
func (k *kit) works(s telemetry.Session) bool {
	k.t.Helper()
	_ = k.enforce() // the wish to look at what came of it
	if err := k.EnforceAll(k.t.Context(), commands.EnforceAll{}, k.cause()); err != nil {
		k.t.Fatal(err)
	}
	_ = k.round(k.t.Context()) // the same wish
	return k.session(s).EndedAt != nil
}

// TestEnforce_WhoSignsInAtAnOldDirectoryIsEndedLessAndLessOften: each of the customer's sign-ins is answered by what
// was true before. Who has paid is let out of the walled garden soon after that is over. Who may not be online is ended
// each time.
func TestEnforce_WhoSignsInAtAnOldDirectoryIsEndedLessAndLessOften(t *testing.T) {
	t.Parallel()
	doubling := []time.Duration{0, 15, 45, 105, 225, 465}
	for name, c := range map[string]struct {
		access string // of the sessions; "" = that of who has paid
		change func(*kit)
		want   []time.Duration // when sessions are ended, in seconds
	}{
		"another address": {"", func(k *kit) { k.moves("100.64.0.9") }, append(slices.Clip(doubling), 945)},
		"paid":            {"walled_garden", func(*kit) {}, append(slices.Clip(doubling), 765, 1065)},
		"blocked":         {"", func(k *kit) { k.block(true) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			first := k.online()
			if c.access != "" {
				first.Access, first.Stamp = c.access, strings.Repeat("1", len(first.Stamp))
			}
			s := k.granted(first, first)
			c.change(k)
			var got, each []time.Duration
			for at := time.Duration(0); at < 1_080; at += 15 {
				each = append(each, at)
				if k.works(s) {
					got = append(got, at)
					if name == "blocked" {
						k.block(false)
					}
					s = k.granted(k.online(), first)
					c.change(k)
				}
				k.clock.Advance(15 * time.Second)
			}
			if c.want == nil {
				c.want = each
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("ended after so many seconds: %d, want %d", got, c.want)
			}
		})
	}
}

// TestEnforce_TheFirstEndForAChangeWaitsForNoOther: nor does it of another device, and that of a person.
func TestEnforce_TheFirstEndForAChangeWaitsForNoOther(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	first := k.online()
	k.moves("100.64.0.9")
	if !k.works(first) {
		t.Fatal("the first end has to come at once")
	}
	again := k.granted(k.online(), first)
	if k.works(again) {
		t.Fatal("the second end has to wait")
	}
	other := k.another("brian")
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: other.SubscriptionID, SubscriberID: other.SubscriberID, StaticIP: personal.Of("100.64.0.8"),
	})
	if !k.works(other) {
		t.Error("another customer's session waits")
	}
	device := k.granted(k.onlineWith("AA:BB:CC:00:22:00"), first)
	if !k.works(device) || k.session(again).EndedAt != nil {
		t.Error("the session of another device waits, or that of the first one does not")
	}
	k.moves("100.64.0.7")
	if !k.works(again) {
		t.Error("a session waits although the change is another one")
	}
	again = k.granted(k.online(), first)
	meta := commands.Meta{CommandID: id.New[id.Command](), OrgID: k.org, Actor: k.cause().Actor}
	if done, err := k.Disconnect(t.Context(), again.ID, false, meta); err != nil || !done.Ended || done.Error != "" {
		t.Errorf("a person waits: %+v, %v", done, err)
	}
}

// TestEnforce_AfterASessionThatIsRightTheNextEndIsAFirstOne: also where it is for the same as the end before.
func TestEnforce_AfterASessionThatIsRightTheNextEndIsAFirstOne(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	first := k.online()
	k.moves("100.64.0.9")
	if !k.works(first) {
		t.Fatal("the first end has to come at once")
	}
	if right := k.online(); k.works(right) {
		t.Fatal("a session that is right is ended")
	} else if right = k.granted(right, first); !k.works(right) {
		t.Error("the end of a session that was right waits")
	}
}

// TestEnforce_EndsInVainAreTold: each in the metric, and in the log once a minute at most.
func TestEnforce_EndsInVainAreTold(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	var log bytes.Buffer
	k.Logger = slog.New(slog.NewTextHandler(&log, nil))
	metrics := prometheus.NewRegistry()
	k.Outcomes = accessjobs.NewOutcomes(metrics)
	first := k.online()
	k.moves("100.64.0.9")
	s := first
	for range 5 { // at 0, 15, 45 and 105 seconds, and one that rests
		for range 8 {
			if k.works(s) {
				s = k.granted(k.online(), first)
				break
			}
			k.clock.Advance(15 * time.Second)
		}
	}
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	vain := 0.0
	for _, one := range families[0].GetMetric() {
		for _, label := range one.GetLabel() {
			if label.GetValue() == "in_vain" {
				vain += one.GetCounter().GetValue()
			}
		}
	}
	lines := strings.Count(log.String(), "ends of sessions were in vain")
	if vain != 4 || lines != 2 || !strings.Contains(log.String(), "ends=3") {
		t.Errorf("%v ends in vain, %d lines:\n%s", vain, lines, log.String())
	}
}
