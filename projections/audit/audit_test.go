package auditviews_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// The people and organizations of these tests; jane belongs to acme, root to the platform.
var (
	acme  = id.Derive[id.Organization]("test", "acme")
	other = id.Derive[id.Organization]("test", "other")
	jane  = id.Derive[id.User]("test", "jane")
	root  = id.Derive[id.User]("test", "root")
	start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

// stage is an event store with the audit log running on it.
type stage struct {
	t     *testing.T
	views *runner.Runner
	core  *coretest.Kit
	query auditviews.LogQuery
	last  uint64
	count int
}

// newStage starts store, feed and projection; the test's end stops them.
func newStage(t *testing.T) *stage {
	t.Helper()
	k := coretest.New(t, clock.System())
	r := runner.New(runner.Config{Feed: k.Feed(t), DB: k.DB, Clock: clock.System(), Logger: storetest.Quiet()})
	r.Register(auditviews.Log{})
	coretest.Start(t, "read model", r)
	return &stage{t: t, views: r, core: k, query: auditviews.LogQuery{Views: r.Views()}}
}

// act is the metadata of one command. The same word gives the same command id.
func (s *stage) act(word string, org id.Organization, user id.User, role, action string) events.Metadata {
	ip := "198.51.100.8"
	if user == jane {
		ip = "198.51.100.7"
	}
	return events.Metadata{
		CommandID: id.Derive[id.Command]("test", word), Action: action, OrgID: org, IP: personal.Of(ip),
		Actor: events.Actor{Kind: events.ActorUser, ID: user.String(), Role: role}, RequestID: "request-" + word,
		CorrelationID: word, At: start,
	}
}

// append writes events of one command to a stream.
func (s *stage) append(stream string, expected eventstore.Expected, meta events.Metadata, list ...events.Event) {
	s.t.Helper()
	out := make([]eventstore.New, 0, len(list))
	for _, e := range list {
		s.count++
		meta.EventID = id.New[id.Event]()
		meta.At = start.Add(time.Duration(s.count) * time.Minute)
		out = append(out, eventstore.New{Event: e, Meta: meta})
	}
	done, err := s.core.Store.Append(s.t.Context(), stream, expected, out)
	if err != nil {
		s.t.Fatalf("append: %v", err)
	}
	s.last = done.Position
}

// of returns an organization's log, after the projection has shown all appended events.
func (s *stage) of(org id.Organization, f auditviews.Filter, after auditviews.Key, limit int) []auditviews.Entry {
	s.t.Helper()
	coretest.WaitFor(s.t, s.query.Views, s.last, auditviews.LogName)
	rows, err := s.query.OfOrganization(s.t.Context(), org, f, after, limit)
	if err != nil {
		s.t.Fatalf("read: %v", err)
	}
	return rows
}

// register appends jane, a member of acme, and root, a super_admin.
func (s *stage) register() {
	s.t.Helper()
	s.append("user-"+jane.String(), eventstore.NoStream, s.act("jane", acme, jane, "admin", "identity.RegisterUser"),
		events.UserRegistered{
			UserID: jane, Email: personal.Of("jane@example.org"), FirstName: personal.Of("Jane"),
			LastName: personal.Of("Doe"), RegisteredAt: start,
		},
		events.MembershipGranted{
			UserID: jane, OrgID: acme, Role: events.RoleAdmin, FirstName: personal.Of("Jane"),
			LastName: personal.Of("Doe"), At: start,
		})
	s.append("user-"+root.String(), eventstore.NoStream,
		s.act("root", id.Organization{}, root, "super_admin", "identity.RegisterUser"),
		events.UserRegistered{
			UserID: root, Email: personal.Of("root@example.org"), FirstName: personal.Of("Root"), SuperAdmin: true,
			RegisteredAt: start,
		})
}

// plan returns a stream and the event that archives the n-th plan; org is not part of either.
func plan(n int, org id.Organization) (string, events.Event) {
	p := id.Derive[id.Plan]("test", fmt.Sprint(n))
	return "plan-" + p.String(), events.PlanArchived{PlanID: p}
}

func TestLog_OneEntryForEachCommandAndStream(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.register()
	meta := s.act("archive", acme, jane, "admin", "subscribers.ArchivePlan")
	meta.Reason = "no longer sold"
	stream, archived := plan(1, acme)
	s.append(stream, eventstore.NoStream, meta, archived)
	s.append("claim-"+id.New[id.Any]().String(), eventstore.NoStream, meta, events.ClaimTaken{
		Kind: "x", Owner: id.New[id.Any](),
	})
	got := s.of(acme, auditviews.Filter{}, auditviews.Key{}, 10)
	jd, ip := "Jane Doe", "198.51.100.7"
	want := []auditviews.Entry{
		{
			OrgID: acme, ActorKind: "user", ActorID: jane.String(), ActorRole: "admin", ActorName: &jd, IP: &ip,
			Action: "subscribers.ArchivePlan", TargetType: "plan", TargetID: id.Any(id.Derive[id.Plan]("test", "1")),
			Outcome: auditviews.Succeeded, RequestID: "request-archive", CorrelationID: "archive",
			Reason: "no longer sold", Events: []string{"subscribers.PlanArchived.v1"},
		},
		{
			OrgID: acme, ActorKind: "user", ActorID: jane.String(), ActorRole: "admin", ActorName: &jd, IP: &ip,
			Action: "identity.RegisterUser", TargetType: "user", TargetID: id.Any(jane), Outcome: auditviews.Succeeded,
			RequestID: "request-jane", CorrelationID: "jane",
			Events: []string{"identity.UserRegistered.v1", "identity.MembershipGranted.v1"},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(auditviews.Entry{}, "ID", "Position", "At")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if !got[1].At.Equal(start.Add(time.Minute)) {
		t.Errorf("at %s", got[1].At)
	}
}

// What a job does for a person minutes later has the address and the request of the person who asked for it. A write
// that the router refused is told with its words, and work that did not succeed has not succeeded in the log.
func TestLog_LaterWritesKeepAddressAndRequestAndARefusedOneIsTold(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.register()
	device, run := id.Derive[id.Device]("test", "router"), id.Derive[id.Run]("test", "run")
	first := s.act("reboot", acme, jane, "admin", "network.RequestReboot")
	s.append("device-"+device.String(), eventstore.NoStream, first,
		events.DeviceRebootRequested{DeviceID: device, RunID: run, At: start})
	later := func(word, action string) events.Metadata {
		m := s.act(word, acme, jane, "admin", action)
		m.IP, m.RequestID, m.CorrelationID = personal.Text{}, "", "reboot"
		return m
	}
	s.append("device-"+device.String(), 0, later("accept", "network.AcceptReboot"),
		events.DeviceRebootAccepted{DeviceID: device, RunID: run, At: start})
	step := events.RouterStep{Path: "ip/pool", Operation: "add", Name: "pool"}
	s.append("reconcile-"+run.String(), eventstore.NoStream, later("refused", "network.RecordRefusal"),
		events.RouterWriteRefused{
			RunID: run, OrgID: acme, DeviceID: device, Step: step, Message: "pool with such name exists",
			By: first.Actor, At: start,
		})
	s.append("reconcile-"+run.String(), 0, later("finish", "network.FinishReconcile"), events.ReconcileFinished{
		RunID: run, OrgID: acme, DeviceID: device, Outcome: events.ReconcileUnreachable, At: start,
	})
	rows := s.of(acme, auditviews.Filter{}, auditviews.Key{}, 4)
	for _, row := range rows {
		if row.IP == nil || *row.IP != "198.51.100.7" || row.RequestID != "request-reboot" {
			t.Errorf("%s: address %v, request %q", row.Action, row.IP, row.RequestID)
		}
	}
	finished, refused := rows[0], rows[1]
	if finished.Outcome != auditviews.Failed || finished.Code != "device_unreachable" {
		t.Errorf("the end of the run: %+v", finished)
	}
	if refused.Action != auditviews.RouterWriteAction || refused.Outcome != auditviews.Refused ||
		refused.Detail == nil || refused.Detail.Message != "pool with such name exists" ||
		refused.Detail.Path != "ip/pool" {
		t.Errorf("the refused write: %+v, %+v", refused, refused.Detail)
	}
}

func TestLog_TenantsSeeTheirOwnAndThePlatformAll(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.register()
	stream, archived := plan(1, other)
	s.append(stream, eventstore.NoStream, s.act("foreign", other, root, "super_admin", "subscribers.ArchivePlan"),
		archived)
	got := s.of(other, auditviews.Filter{}, auditviews.Key{}, 10)
	if len(got) != 1 || got[0].ActorRole != "super_admin" || got[0].ActorName == nil || *got[0].ActorName != "Root" {
		t.Errorf("other sees %+v", got)
	}
	if got := s.of(acme, auditviews.Filter{}, auditviews.Key{}, 10); len(got) != 1 {
		t.Errorf("acme sees %d entries", len(got))
	}
	all, err := s.query.OfAll(t.Context(), id.Organization{}, auditviews.Filter{}, auditviews.Key{}, 10)
	if err != nil || len(all) != 3 || all[1].OrgID != (id.Organization{}) || all[0].ActorName == nil {
		t.Errorf("the platform sees %+v, %v", all, err)
	}
	one, err := s.query.OfAll(t.Context(), other, auditviews.Filter{}, auditviews.Key{}, 10)
	if err != nil || len(one) != 1 || one[0].OrgID != other {
		t.Errorf("the platform sees of one organization %+v, %v", one, err)
	}
}

func TestLog_FiltersAndPages(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.register()
	for n := range 20 {
		stream, archived := plan(n, acme)
		meta := s.act(fmt.Sprint("n", n), acme, jane, "admin", "subscribers.ArchivePlan")
		if n%2 == 1 {
			meta.Action, meta.Actor = "subscribers.RevisePlan", events.Actor{Kind: events.ActorProcess, ID: "renewal"}
		}
		s.append(stream, eventstore.NoStream, meta, archived)
	}
	third := id.Any(id.Derive[id.Plan]("test", "3"))
	for name, tc := range map[string]struct {
		filter auditviews.Filter
		want   int
	}{
		"none":        {auditviews.Filter{}, 21},
		"person":      {auditviews.Filter{Actor: jane.String()}, 11},
		"process":     {auditviews.Filter{Actor: "renewal"}, 10},
		"action":      {auditviews.Filter{Action: "subscribers.RevisePlan"}, 10},
		"done":        {auditviews.Filter{Outcome: auditviews.Succeeded}, 21},
		"refused":     {auditviews.Filter{Outcome: auditviews.Refused}, 0},
		"target type": {auditviews.Filter{TargetType: "user"}, 1},
		"target":      {auditviews.Filter{TargetID: third}, 1},
		"both":        {auditviews.Filter{TargetType: "plan", TargetID: third}, 1},
		"other type":  {auditviews.Filter{TargetType: "user", TargetID: third}, 0},
		"from":        {auditviews.Filter{From: start.Add(14 * time.Minute)}, 10},
		"to":          {auditviews.Filter{To: start.Add(14 * time.Minute)}, 11},
		"window":      {auditviews.Filter{From: start.Add(14 * time.Minute), To: start.Add(15 * time.Minute)}, 1},
	} {
		if got := s.of(acme, tc.filter, auditviews.Key{}, 100); len(got) != tc.want {
			t.Errorf("%s: %d entries, want %d", name, len(got), tc.want)
		}
	}
	var seen []id.Any
	var after auditviews.Key
	for {
		rows := s.of(acme, auditviews.Filter{}, after, 4)
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			seen = append(seen, row.ID)
			after = row.Key()
		}
		stream, archived := plan(100+len(seen), acme) // entries arrive between the pages
		s.append(stream, eventstore.NoStream,
			s.act(fmt.Sprint("new", len(seen)), acme, jane, "admin", "subscribers.ArchivePlan"), archived)
	}
	once := map[id.Any]bool{}
	for _, e := range seen {
		once[e] = true
	}
	if len(seen) != 21 || len(once) != 21 {
		t.Errorf("saw %d entries, %d different ones", len(seen), len(once))
	}
}

// The target of an entry comes from the event's metadata; for events older than that field the codec adds it.
func TestLog_LaterPeriodsNameTheirAggregate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	subscriber := id.Derive[id.Subscriber]("test", "subscriber")
	s.append("account-"+id.New[id.Any]().String(), eventstore.NoStream,
		s.act("open", acme, jane, "admin", "billing.OpenAccount"),
		events.AccountOpened{SubscriberID: subscriber, OrgID: acme, Currency: money.KES})
	if got := s.of(acme, auditviews.Filter{TargetID: id.Any(subscriber)}, auditviews.Key{}, 10); len(got) != 1 {
		t.Errorf("found %+v", got)
	}
	device := id.Derive[id.Device]("test", "device")
	for _, recorded := range []id.Any{{}, id.Any(device)} {
		meta := s.act("lost"+recorded.String(), acme, jane, "admin", "network.MarkDeviceUnreachable")
		meta.AggregateID = recorded
		s.append("device-"+id.New[id.Any]().String(), eventstore.NoStream, meta,
			events.DeviceUnreachable{DeviceID: device, Error: "no answer", At: start})
	}
	if got := s.of(acme, auditviews.Filter{TargetType: "device", TargetID: id.Any(device)}, auditviews.Key{},
		10); len(got) != 2 {
		t.Errorf("found %+v of the router", got)
	}
}

func TestLog_RefusalsShowRequestAndCode(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	target := id.New[id.Any]()
	for status, outcome := range map[int]string{
		403: auditviews.Refused, 409: auditviews.Refused, 503: auditviews.Failed,
	} {
		refusal := id.New[id.Request]()
		s.append("refusal-"+refusal.String(), eventstore.NoStream,
			s.act(fmt.Sprint(status), acme, jane, "support", "audit.NoteRefusal"),
			events.RequestRefused{
				RefusalID: refusal, OrgID: acme, Method: "POST", Route: "/invoices/:id/void", TargetID: target,
				Status: status, Code: "some_code", Count: 7,
			})
		with := auditviews.Filter{TargetType: "invoices", TargetID: target, Outcome: outcome}
		got := s.of(acme, with, auditviews.Key{}, 1)
		if len(got) != 1 || got[0].Action != "POST /invoices/:id/void" || got[0].Outcome != outcome ||
			got[0].Code != "some_code" || got[0].Status != status || got[0].Refusals != 7 {
			t.Errorf("%d: %+v", status, got)
		}
	}
}

func TestLog_ForgottenPeopleLeaveNoNameAndNoAddress(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.register()
	s.append("user-"+jane.String(), eventstore.At(1), s.act("corrected", acme, jane, "admin", "identity.CorrectUser"),
		events.UserDetailsCorrected{UserID: jane, FirstName: personal.Of("Janet"), LastName: personal.Of("Doe")})
	if got := s.of(acme, auditviews.Filter{}, auditviews.Key{}, 10); *got[0].ActorName != "Janet Doe" ||
		*got[1].ActorName != "Janet Doe" {
		t.Errorf("after the correction: %+v", got)
	}
	s.append("user-"+jane.String(), eventstore.At(2), events.Metadata{
		CommandID: id.New[id.Command](), Action: "identity.ForgetUser", OrgID: acme,
		Actor: events.Actor{Kind: events.ActorOperator},
	}, events.UserForgotten{UserID: jane})
	got := s.of(acme, auditviews.Filter{}, auditviews.Key{}, 10)
	if len(got) != 3 {
		t.Fatalf("%d entries", len(got))
	}
	if text := s.dump(); strings.Contains(text, "Jane") || strings.Contains(text, "198.51.100.7") ||
		!strings.Contains(text, "Root") {
		t.Errorf("the tables still hold something of a forgotten person:\n%s", text)
	}
	for _, e := range got {
		if e.ActorName != nil || e.IP != nil {
			t.Errorf("entry %+v", e)
		}
	}
	report, err := s.views.Verify(t.Context(), auditviews.LogName)
	if err != nil || !report.Equal() {
		t.Errorf("a replay differs: %+v, %v", report, err)
	}
}

// dump returns every row of the projection's tables as text.
func (s *stage) dump() string {
	s.t.Helper()
	var rows []string
	err := s.query.Views.Platform(s.t.Context(), func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowTo[string],
			s.query.Views.SQL(auditviews.LogName, `select e::text from {schema}.entries e
			union all select p::text from {schema}.people p union all select a::text from {schema}.actors a`))
	})
	if err != nil {
		s.t.Fatalf("dump: %v", err)
	}
	return strings.Join(rows, "\n")
}
