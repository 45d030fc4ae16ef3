package accessjobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// silentTown has one customer, online by RADIUS of this installation alone, whose reports do not come: they stopped ten
// minutes ago, or never came.
func silentTown(hotspot, never bool) *town {
	town := newTown()
	town.add("amina", entitlement.Full, hotspot, true)
	town.shown.Asks = routerplan.Asks{PPP: !hotspot, Hotspot: hotspot}
	town.shown.SignIns = routerplan.SignIns{PPP: !hotspot, Hotspot: hotspot}
	town.shown.Reported.Asks, town.shown.Reported.SignIns = town.shown.Asks, town.shown.SignIns
	town.heard(hotspot).Reported = new(noon.Add(-time.Minute))
	if !never {
		s := town.known.Open[0]
		s.UpdatedAt = noon.Add(-10 * time.Minute)
		ended := s.UpdatedAt
		s.EndedAt, s.EndReason = &ended, telemetry.ReasonLost
		town.known.Silent = []telemetry.Session{s}
	}
	town.known.Open = nil
	return town
}

// silentStory changes a town without reports, and has what follows.
type silentStory struct {
	change     func(*town)
	kind       events.AccessDifferenceKind
	byHand     bool
	never, let bool
}

// silentStories are by what happened.
func silentStories() map[string]silentStory {
	of := func(access entitlement.Access, code entitlement.Code) func(*town) {
		return func(town *town) {
			p := directory.Present{Code: code, Grant: directory.Grant{Access: access}}
			if access != entitlement.None {
				p.Grant.Down, p.Grant.Up, p.RateLimit = 10_000, 2_000, "2M/10M"
			}
			town.present[town.names["amina"]] = p
		}
	}
	const unpaid, suspended = events.UnpaidButOnline, entitlement.CodeSuspended
	none := of(entitlement.None, suspended)
	walled := func(town *town) { town.shown.Garden[town.shown.Sessions[0].Address] = true }
	otherSpeed := func(town *town) { town.shown.Queues[0].Limit = "1M/1M" }
	return map[string]silentStory{
		"suspended":          {none, unpaid, false, false, true},
		"suspended, never":   {none, unpaid, false, true, true},
		"overdue":            {of(entitlement.WalledGarden, "overdue"), unpaid, false, false, true},
		"paid and walled in": {walled, events.PaidButWalledIn, false, false, true},
		"other speed":        {otherSpeed, events.WrongRate, false, false, true},
		"paid":               {func(*town) {}, events.UnknownSession, true, false, false},
		"paid, never":        {func(*town) {}, events.UnknownSession, true, true, false},
		"paid and walled in, but could not come back": {func(town *town) {
			walled(town)
			town.refused(noon)
		}, events.PaidButWalledIn, true, false, true},
		"suspended, and would not come back": {func(town *town) {
			none(town)
			town.refused(noon)
		}, unpaid, false, false, true},
		"suspended, let in by who knows which RADIUS server": {func(town *town) {
			none(town)
			town.shown.Asks, town.shown.Reported.Asks = routerplan.Asks{}, routerplan.Asks{}
		}, unpaid, false, true, false},
		"let in by another RADIUS server, as it was reported": {func(town *town) {
			town.known.Silent[0].Stamp = ""
		}, events.UnknownSession, false, false, false},
		"another session of before": {func(town *town) {
			town.known.Silent[0].UpdatedAt = noon.Add(-2 * time.Hour)
			town.shown.Asks, town.shown.Reported.Asks = routerplan.Asks{}, routerplan.Asks{}
			none(town)
		}, unpaid, false, false, false},
		"paid, and refused before": {func(town *town) {
			town.known.Refused = []telemetry.Refusal{{
				SubscriptionID: town.names["amina"], Code: "unpaid", FirstAt: noon.Add(-time.Hour),
				At: noon.Add(-time.Hour),
			}}
		}, events.UnknownSession, true, true, false},
		"of nobody": {func(town *town) { delete(town.names, "amina") }, events.UnknownSession, false, true, false},
	}
}

// TestCompare_ASessionWhoseReportsDoNotCome: the router shows a session by RADIUS of a customer whom it does not report
// any more, or never did. What it is follows from what the customer is entitled to, and what is right is for people.
func TestCompare_ASessionWhoseReportsDoNotCome(t *testing.T) {
	t.Parallel()
	for name, c := range silentStories() {
		for _, hotspot := range []bool{false, true} {
			town := silentTown(hotspot, c.never)
			c.change(town)
			got := accessjobs.Compare(town.shown, town.known)
			if len(got) != 1 || got[0].Kind != c.kind || (got[0].ByHand() != "") != c.byHand || got[0].Let() != c.let {
				t.Errorf("%s, hotspot %v: %+v", name, hotspot, got)
			}
		}
	}
}

// TestCompare_ASilentSessionOfAFormerLoginHasToEnd, although its access and its speed are right: what it was granted is
// compared as of an open session. One that was never reported is not known to be of a former login.
func TestCompare_ASilentSessionOfAFormerLoginHasToEnd(t *testing.T) {
	t.Parallel()
	for reason, says := range map[string]string{
		accessjobs.ReasonWrongMAC: "which may not use it", accessjobs.ReasonChanged: "by former ones",
		"overdue": "with walled_garden",
	} {
		for _, never := range []bool{false, true} {
			town := silentTown(false, never)
			if !never {
				town.known.Silent[0].Access = "walled_garden"
			}
			town.known.Ends = func(s telemetry.Session) string {
				if s.EndedAt != nil || s.SubscriptionID != town.names["amina"] {
					t.Errorf("asked about %+v", s)
				}
				return reason
			}
			got := accessjobs.Compare(town.shown, town.known)
			if len(got) != 1 || got[0].Kind != events.UnknownSession || got[0].Let() == never ||
				(got[0].ByHand() != "") != never || strings.Contains(got[0].Actual, says) == never {
				t.Errorf("%s, never %v: %+v", reason, never, got)
			}
			town.refused(noon)
			if got := accessjobs.Compare(town.shown, town.known); len(got) != 1 || got[0].ByHand() == "" {
				t.Errorf("%s, never %v, and could not come back: %+v", reason, never, got)
			}
		}
	}
}

// TestCompare_SilentSessionsBeyondTheLimitHaveToEnd: the newest ones stay, and each other one is a difference of its
// own. Open sessions of the customer count too, and are left to enforcement.
func TestCompare_SilentSessionsBeyondTheLimitHaveToEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit, ended int
		open         bool
	}{
		"one":                   {1, 3, false},
		"three":                 {3, 1, false},
		"as many as there are":  {4, 0, false},
		"not known":             {0, 0, false},
		"one that reports come": {2, 2, true},
	} {
		town := silentTown(false, true)
		if c.open {
			town = newTown()
			town.add("amina", entitlement.Full, false, true)
			town.shown.Asks.PPP = true
		}
		town.known.Limit = func(id.Subscription) int { return c.limit }
		first := town.shown.Sessions[0]
		first.Uptime = 10 * time.Minute
		town.shown.Sessions[0] = first
		for i := range 3 {
			more := first
			more.Key, more.MAC, more.Interface = fmt.Sprint(i), fmt.Sprintf("02:00:00:00:01:%02X", i), ""
			more.Uptime = time.Duration(20+i) * time.Minute
			town.shown.Sessions = append(town.shown.Sessions, more)
		}
		ended := 0
		for _, f := range accessjobs.Compare(town.shown, town.known) {
			if f.Kind != events.UnknownSession {
				t.Errorf("%s: %+v", name, f)
			}
			if f.Let() {
				ended++
				if strings.Contains(f.Actual, first.MAC) || !strings.Contains(f.Actual, "newer") {
					t.Errorf("%s: %s", name, f.Actual)
				}
			}
		}
		if ended != c.ended {
			t.Errorf("%s: %d have to end, want %d", name, ended, c.ended)
		}
	}
}

// TestCompare_WhatIsToldAboutMissingReportsIsTrue: until when there were reports, or that there were none.
func TestCompare_WhatIsToldAboutMissingReportsIsTrue(t *testing.T) {
	t.Parallel()
	for never, want := range map[bool]string{
		false: ", and it was reported until 2026-03-02T11:50:00Z only",
		true:  ", and no session of it was reported",
	} {
		got := accessjobs.Compare(silentTown(false, never).shown, silentTown(false, never).known)
		if len(got) != 1 || !strings.HasSuffix(got[0].Actual, want) || got[0].Expected != "a session that is reported" {
			t.Errorf("never %v: %+v", never, got)
		}
	}
}

// silence has the router lose all reports from now on, until its session is lost.
func (k *kit) silence(s telemetry.Session) telemetry.Session {
	k.t.Helper()
	if err := k.nas.SetFaults(handset.Faults{LoseStarts: 1, LoseInterims: 1, LoseStops: 1}); err != nil {
		k.t.Fatal(err)
	}
	k.idle()
	if _, err := k.store.CloseLost(k.t.Context(), telemetry.Silence{Since: s.UpdatedAt.Add(time.Second)}); err != nil {
		k.t.Fatal(err)
	}
	return k.session(s)
}

// TestDisconnect_ALostSessionGoesOnAtItsRouter until the router was asked; then it is over.
func TestDisconnect_ALostSessionGoesOnAtItsRouter(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.silence(k.online())
	if s.EndReason != telemetry.ReasonLost || len(k.nas.Sessions()) != 1 {
		t.Fatalf("session %+v, %d at the router", s, len(k.nas.Sessions()))
	}
	meta := commands.Meta{CommandID: id.New[id.Command](), OrgID: k.org, Actor: k.cause().Actor}
	done, err := k.Disconnect(t.Context(), s.ID, false, meta)
	if err != nil || !done.Ended || done.Via != events.ViaRadius || len(k.nas.Sessions()) != 0 {
		t.Errorf("%+v, %v; %d at the router", done, err, len(k.nas.Sessions()))
	}
}

// TestEnforce_ALostSessionHasItsRouterLookedAt when it was granted something else than the customer is entitled to, and
// when the auditor has seen that its reports do not come. One that is right, or whose device came back, has not.
func TestEnforce_ALostSessionHasItsRouterLookedAt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	looks := func() int {
		t.Helper()
		if err := k.enforce(); err != nil {
			t.Fatal(err)
		}
		list, err := jobrunner.Waiting[commands.AuditRouter](t.Context(), k.Queue)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	s := k.silence(k.online())
	if n := looks(); n != 0 {
		t.Errorf("%d looks at a router whose lost session is right", n)
	}
	k.block(true)
	if n := looks(); n != 1 {
		t.Errorf("%d looks after the customer was blocked", n)
	}
	k.block(false)
	other := newKit(t)
	other.ShownAt = func(_ context.Context, org id.Organization, who id.Subscriber) ([]id.Device, error) {
		if org != other.org || who != other.subscriber {
			t.Errorf("asked about %s of %s", who, org)
		}
		return []id.Device{other.device}, nil
	}
	if err := other.enforce(); err != nil {
		t.Fatal(err)
	}
	if list, err := jobrunner.Waiting[commands.AuditRouter](t.Context(), other.Queue); err != nil || len(list) != 1 {
		t.Errorf("looks %v, %v", list, err)
	}
	if n := k.requests.Load(); n != 0 || len(k.history(s)) != 0 {
		t.Errorf("%d requests about a lost session, history %v", n, k.history(s))
	}
}

// TestCompare_ASessionFromBeforeThePasswordWasChangedHasToEnd, although nothing of it was ever reported: the router
// tells when it began. A device that is not registered, and got in by its MAC, has proven the password before.
func TestCompare_ASessionFromBeforeThePasswordWasChangedHasToEnd(t *testing.T) {
	t.Parallel()
	const mac = "02:00:00:00:00:01"
	for name, c := range map[string]struct {
		user        string
		uptime      time.Duration
		never, ends bool
	}{
		"before":                 {"amina", 32 * time.Minute, true, true},
		"about then":             {"amina", 30 * time.Minute, true, false},
		"after":                  {"amina", 20 * time.Minute, true, false},
		"by its MAC":             {mac, 32 * time.Minute, true, true},
		"by its MAC, afterwards": {mac, 20 * time.Minute, true, false},
		"called by another MAC":  {"0200.0000.00aa", 32 * time.Minute, true, true},
		"compared as it is told": {"amina", 32 * time.Minute, false, false},
	} {
		town := silentTown(true, c.never)
		subscription := town.names["amina"]
		town.names[c.user] = subscription
		p := town.present[subscription]
		p.Renewed = noon.Add(-30 * time.Minute)
		town.present[subscription] = p
		town.shown.Sessions[0].User, town.shown.Sessions[0].Uptime = c.user, c.uptime
		got := accessjobs.Compare(town.shown, town.known)
		if len(got) != 1 || got[0].Kind != events.UnknownSession || got[0].Let() != c.ends ||
			(got[0].ByHand() == "") != c.ends || strings.Contains(got[0].Actual, "by former ones") != c.ends {
			t.Errorf("%s: %+v", name, got)
		}
		town.refused(noon)
		if got := accessjobs.Compare(town.shown, town.known); len(got) != 1 || (got[0].ByHand() == "") != c.ends {
			t.Errorf("%s, and nobody could come back: %+v", name, got)
		}
	}
	town := silentTown(false, true) // by PPP every name has a password
	town.names[mac] = town.names["amina"]
	p := town.present[town.names[mac]]
	p.Renewed = noon.Add(-30 * time.Minute)
	town.present[town.names[mac]] = p
	town.shown.Sessions[0].User, town.shown.Sessions[0].MAC, town.shown.Sessions[0].Uptime = mac, mac, time.Hour
	if got := accessjobs.Compare(town.shown, town.known); len(got) != 1 || !got[0].Let() {
		t.Errorf("by PPP, called by its MAC: %+v", got)
	}
}

// TestCompare_SeveralSilentSessionsOfOneHostAreToldApart when they have to end; one that is right is told once. Each
// device keeps its difference when it dials again.
func TestCompare_SeveralSilentSessionsOfOneHostAreToldApart(t *testing.T) {
	t.Parallel()
	for _, hotspot := range []bool{false, true} {
		town := silentTown(hotspot, true)
		for i := range 3 {
			more := town.shown.Sessions[0]
			more.Address = fmt.Sprint("100.64.9.", i)
			if !hotspot {
				more.Key = fmt.Sprint("81b0000", i)
			}
			town.shown.Sessions = append(town.shown.Sessions, more)
		}
		if !hotspot {
			town.shown.Queues = append(town.shown.Queues, routerplan.ObservedQueue{Limit: "2M/10M"})
			for i := range town.shown.Sessions {
				town.shown.Sessions[i].Interface = town.shown.Queues[0].Target
			}
		} else {
			for i := range 3 {
				q := town.shown.Queues[0]
				q.Target = fmt.Sprint("100.64.9.", i)
				town.shown.Queues = append(town.shown.Queues, q)
			}
		}
		right := accessjobs.Compare(town.shown, town.known)
		if len(right) != 1 || right[0].Kind != events.UnknownSession {
			t.Errorf("hotspot %v, all are right: %+v", hotspot, right)
		}
		town.present[town.names["amina"]] = directory.Present{
			Grant: directory.Grant{Access: entitlement.WalledGarden}, Code: "overdue",
		}
		wrong := accessjobs.Compare(town.shown, town.known)
		if len(wrong) != 4 {
			t.Errorf("hotspot %v: %d of four sessions have to end", hotspot, len(wrong))
		}
		town.shown.Sessions = town.shown.Sessions[:1]
		town.shown.Sessions[0].Key += "9"
		again := accessjobs.Compare(town.shown, town.known)
		if len(again) != 1 || !slices.ContainsFunc(wrong, func(f accessjobs.Found) bool {
			return f.DifferenceID == again[0].DifferenceID
		}) {
			t.Errorf("hotspot %v, the next one: %+v", hotspot, again)
		}
	}
}

// TestCompare_NoDifferenceHasTheCodeOfAVoucher, whatever its session is, neither in its sentence nor in its id.
func TestCompare_NoDifferenceHasTheCodeOfAVoucher(t *testing.T) {
	t.Parallel()
	voucher := id.New[id.Voucher]()
	subscription := directory.VoucherService(voucher)
	for name, change := range map[string]func(*town){
		"right":            func(*town) {},
		"of nobody":        func(town *town) { delete(town.names, "amina") },
		"reported, stolen": func(town *town) { town.known.Silent[0].Stamp = "" },
		"another device": func(town *town) {
			town.known.Ends = func(telemetry.Session) string { return accessjobs.ReasonWrongMAC }
		},
		"a user of the hotspot": func(town *town) { town.shown.Sessions[0].Radius = false },
		"a secret": func(town *town) {
			town.shown.Sessions[0].Radius, town.shown.Sessions[0].Hotspot = false, false
		},
	} {
		var before id.Difference
		for _, code := range []string{"CAFE-524Y-RY89-Y3MY", "cafe524yry89y3my"} {
			town := silentTown(true, name == "right")
			town.present[subscription], town.names["amina"] = town.present[town.names["amina"]], subscription
			change(town)
			subscriber, of := id.As[id.Subscriber](town.names["amina"]), town.names["amina"]
			town.known.Holder = func(routerplan.ObservedSession) (id.Subscriber, id.Subscription) {
				return subscriber, of
			}
			town.known.Voucher = func(s routerplan.ObservedSession) id.Voucher {
				if s.User == code {
					return voucher
				}
				return id.Voucher{}
			}
			town.shown.Sessions[0].User = code
			if len(town.known.Silent) > 0 {
				town.known.Silent[0].Username, town.known.Silent[0].SubscriptionID = code, subscription
				town.known.Silent[0].SubscriberID = id.As[id.Subscriber](subscription)
			}
			got := accessjobs.Compare(town.shown, town.known)
			if len(got) != 1 || strings.Contains(got[0].Actual, code) || !strings.Contains(got[0].Actual,
				"the voucher "+voucher.String()+", device "+town.shown.Sessions[0].MAC) {
				t.Errorf("%s: %+v", name, got)
			} else if before != (id.Difference{}) && before != got[0].DifferenceID {
				t.Errorf("%s: another difference for another form of the code", name)
			} else {
				before = got[0].DifferenceID
			}
		}
	}
}

// TestCompare_SilentSessionsBeyondTheLimitOfAPlanThatRefusesHaveToEnd: the oldest one stays.
func TestCompare_SilentSessionsBeyondTheLimitOfAPlanThatRefusesHaveToEnd(t *testing.T) {
	t.Parallel()
	town := silentTown(false, true)
	town.known.Limit = func(id.Subscription) int { return 1 }
	town.known.Refuses = func(s id.Subscription) bool { return s == town.names["amina"] }
	first := town.shown.Sessions[0]
	first.Uptime = 10 * time.Minute
	older := first
	older.Key, older.MAC, older.Interface, older.Uptime = "9", "02:00:00:00:01:09", "", 20*time.Minute
	town.shown.Sessions = []routerplan.ObservedSession{first, older}
	var ended []string
	for _, f := range accessjobs.Compare(town.shown, town.known) {
		if f.Let() && f.ByHand() == "" {
			ended = append(ended, f.Actual)
		}
	}
	if len(ended) != 1 || !strings.Contains(ended[0], first.MAC) || !strings.Contains(ended[0], "older") {
		t.Errorf("%q", ended)
	}
}

// TestCompare_AReportedSessionBesideSilentOnesIsBeyondTheLimit where those stay: enforcement sees none of them. It ends
// the reported ones that are beyond by themselves, and nobody is ended unasked for who another server may have let in.
func TestCompare_AReportedSessionBesideSilentOnesIsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit    int
		refuses  bool
		silent   time.Duration // its age; the reported one's is ten minutes
		other    bool          // another server may have let it in
		reported int
		ends     string // "" = enforcement does
		let      bool
	}{
		"the first one stays":     {1, true, 20 * time.Minute, false, 1, "beside as many older ones", true},
		"the newest one stays":    {1, false, 5 * time.Minute, false, 1, "beside as many newer ones", true},
		"of another server":       {1, true, 20 * time.Minute, true, 1, "beside as many older ones", false},
		"two reported ones":       {1, true, 20 * time.Minute, false, 2, "", false},
		"two of three":            {2, true, 20 * time.Minute, false, 2, "beside as many older ones", true},
		"as many as there may be": {2, true, 20 * time.Minute, false, 1, "", false},
	} {
		town := newTown()
		for range c.reported {
			town.add("amina", entitlement.Full, false, true)
		}
		town.shown.Asks.PPP = !c.other
		town.known.Limit = func(id.Subscription) int { return c.limit }
		town.known.Refuses = func(id.Subscription) bool { return c.refuses }
		for i := range town.shown.Sessions {
			town.shown.Sessions[i].Uptime = 10*time.Minute - time.Duration(i)*time.Second
		}
		last := town.shown.Sessions[len(town.shown.Sessions)-1]
		silent := last
		silent.Key, silent.MAC, silent.Interface, silent.Uptime = "9", "02:00:00:00:01:09", "", c.silent
		town.shown.Sessions = append(town.shown.Sessions, silent)
		found := false
		for _, f := range accessjobs.Compare(town.shown, town.known) {
			if !strings.Contains(f.Actual, "beside") {
				continue
			}
			found = true
			if c.ends == "" || !strings.Contains(f.Actual, last.MAC+", "+c.ends) || f.Let() != c.let ||
				f.ByHand() != "" || f.Kind != events.UnknownSession {
				t.Errorf("%s: let %v, by hand %q, %s", name, f.Let(), f.ByHand(), f.Actual)
			}
		}
		if found != (c.ends != "") {
			t.Errorf("%s: a session is beyond: %v", name, found)
		}
	}
}
