package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// unreadable records an event about a subscription of an organization that no program can read: its date has a
// thirteenth month.
func (k *kit) unreadable(slug, subscriber, subscription string) {
	k.t.Helper()
	org, at := k.organizationID(slug), k.app.clock.Now().UTC()
	stream := id.New[id.Any]()
	_, err := k.app.storage.store.Append(k.t.Context(), "usage-"+stream.String(), eventstore.NoStream,
		[]eventstore.New{{
			Event: events.CapReached{
				UsageSubject: events.UsageSubject{
					SubscriptionID: id.Must[id.Subscription](subscription), OrgID: org,
					SubscriberID: id.Must[id.Subscriber](subscriber),
				},
				CapPeriod: events.CapPeriod{
					Period: "month", Starts: calendar.Date{Year: 2026, Month: 13, Day: 1},
					ResetsAt: at.AddDate(0, 1, 0),
				},
				CapCount: events.CapCount{Allowed: 1, Used: 1, Then: events.CapStop}, At: at,
			},
			Meta: events.Metadata{
				EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: stream, OrgID: org,
				Actor: events.Actor{Kind: events.ActorOperator}, At: at,
			},
		}})
	if err != nil {
		k.t.Fatal(err)
	}
}

// TestRadius_AnUnreadableEventWhileRunningLeavesItsOrganizationAlone: an event of acme that nobody can read is recorded
// while customers are online. Those of acme get no answer to a sign-in and keep their sessions, what its routers report
// is kept, the auditor says why it does not compare, and staff are told. Customers of beta sign in, are counted, and
// are cut.
func TestRadius_AnUnreadableEventWhileRunningLeavesItsOrganizationAlone(t *testing.T) {
	t.Parallel()
	w := watch(t, 1, "METRICS_ADDR=127.0.0.1:0")
	amina, baraka := w.joins("amina", 1), w.joins("baraka", 2)
	beta := w.organization("beta", "admin@beta.test")
	brian := w.connect(beta, "secret-of-beta", "brian")
	nas := w.tower(beta, "secret-of-beta")
	w.must(beta, "POST", "/payments/cash", map[string]any{
		"subscriberId": brian.subscriber, "amount": 1000, "reference": "till 1",
	})
	w.handset(beta, nas, brian)
	w.later(3 * time.Minute)
	w.shows(w.r, "before")
	ours := w.organizationID("acme").String()

	w.unreadable("acme", amina.subscriber, amina.subscription)
	w.acmeIsLeft(w.towerAgain("radius-secret-"+w.r.Name()), connection{
		username: "baraka", password: baraka.device.Password,
	})
	w.staffIsTold(ours)
	w.acmeKeepsItsSessions(amina, baraka)
	w.isNotCompared()
	w.betaGoesOn(beta, nas, brian)
	if left := w.app.radius.shows.Left(); len(left) != 1 || !strings.Contains(left[0], ours) {
		t.Errorf("left: %v", left)
	}
	for name, s := range map[string]string{"amina": amina.subscription, "baraka": baraka.subscription} {
		w.sessionIs(name, "online at the end", func(a answer) bool {
			return a["endedAt"] == nil && a.text("subscriptionId") == s
		})
	}
}

// staffIsTold wants a metric to count an organization, and the log to name it; /readyz, which strangers can read, was
// down without a name.
func (w *watched) staffIsTold(org string) {
	w.t.Helper()
	text, err := scrape(w.t.Context(), "http://"+w.app.metricsListener.Addr()+"/metrics")
	for _, line := range []string{
		"lastmile_access_organizations_incomplete 1\n",
		`lastmile_radius_packets_total{port="access",result="incomplete"}`,
	} {
		if err != nil || !strings.Contains(string(text), line) {
			w.t.Errorf("metrics lack %q: %v", line, err)
		}
	}
	if strings.Contains(string(text), `lastmile_radius_packets_total{port="access",result="incomplete"} 0`) {
		w.t.Error("sign-ins without an answer are not counted")
	}
	if log := w.log.String(); !strings.Contains(log, `"model in memory leaves an organization"`) ||
		!strings.Contains(log, `"org_id":"`+org+`"`) {
		w.t.Error("the log does not name the organization")
	}
}

// acmeKeepsItsSessions blocks a customer of acme, whose session nobody ends, because nothing about acme is certain.
// What its router reports is acknowledged, and shown.
func (w *watched) acmeKeepsItsSessions(amina, baraka guest) {
	w.t.Helper()
	w.must(w.admin, "POST", "/subscribers/"+baraka.subscriber+"/block", map[string]any{"reason": "fraud"})
	before := w.all(w.admin, "/sessions?username=amina")[0].text("updatedAt")
	w.later(6 * time.Minute) // a report is due every five minutes, and a look at all sessions every 15 seconds
	if err := w.r.Idle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.sessionIs("amina", "counted", func(s answer) bool {
		return s.text("updatedAt") > before && s["endedAt"] == nil && s.text("subscriptionId") == amina.subscription
	})
}

// isNotCompared has the auditor look at acme's router: it says why it cannot compare, and finds nothing.
func (w *watched) isNotCompared() {
	w.t.Helper()
	w.look(w.r)
	w.eventually("the auditor to say why", func(context.Context) (bool, error) {
		list := w.all(w.admin, "/access-audits")
		return len(list) == 1 && list[0].text("why") == "events_unreadable" && list[0]["unseenSince"] != nil,
			fmt.Errorf("%v", list)
	})
	if list := w.all(w.admin, "/access-differences"); len(list) != 0 {
		w.t.Errorf("differences: %v", list)
	}
}

// betaGoesOn has a customer of beta dial again and be cut when he is blocked, and a new one be let in.
func (w *watched) betaGoesOn(beta apiClient, nas *handset.NAS, brian connection) {
	w.t.Helper()
	nas.SignOutAll(handset.UserRequest)
	w.handset(beta, nas, brian)
	w.must(beta, "POST", "/subscribers/"+brian.subscriber+"/block", map[string]any{"reason": "fraud"})
	w.eventually("end of a blocked session of beta", func(context.Context) (bool, error) {
		w.later(15 * time.Second)
		online := w.must(beta, "GET", "/sessions?online=true", nil).list("data")
		return len(online) == 0 && len(nas.Sessions()) == 0, fmt.Errorf("%v", online)
	})
	w.must(beta, "POST", "/subscribers/"+brian.subscriber+"/unblock", map[string]any{"reason": "cleared"})
	w.online(brian)
}
