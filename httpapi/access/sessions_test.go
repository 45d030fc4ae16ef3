package accessapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// line is a server with sessions of one subscriber of Acme.
type line struct {
	*apitest.Kit
	store      *telemetry.Store
	org        id.Organization
	subscriber id.Subscriber
	questions  []string // about addresses, as they were audited
	refuse     error    // of the audit
	stand      *accesscases.CapStand
}

// newLine starts a server. Acme is in Nairobi, which is three hours ahead of UTC.
func newLine(t *testing.T) *line {
	t.Helper()
	store, err := telemetry.Open(t.Context(), pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	l := &line{store: store, subscriber: id.New[id.Subscriber]()}
	zone := time.FixedZone("EAT", 3*3600)
	now := clock.NewManual(time.Date(2026, 3, 3, 9, 0, 0, 0, time.UTC))
	l.Kit = apitest.New(t, nil, accessapi.Sessions{
		Store: store, Lookups: l, Clock: now,
		Zone:  func(context.Context, id.Organization) (*time.Location, error) { return zone, nil },
		Names: l.names,
	}.Routes(), accessapi.Usage{
		Store: store, Clock: now,
		Known: func(_ context.Context, org id.Organization, s id.Subscriber) (bool, error) {
			return org == l.org && s == l.subscriber, nil
		},
		Zone: func(context.Context, id.Organization) (*time.Location, error) { return zone, nil },
		Cap: func(
			context.Context, id.Organization, id.Subscriber, *time.Location,
		) (*accesscases.CapStand, error) {
			return l.stand, nil
		},
	}.Routes())
	l.org = l.Orgs["acme"].ID
	at := time.Date(2026, 3, 2, 20, 30, 0, 0, time.UTC)
	report := telemetry.Report{
		Kind: telemetry.Interim, Org: l.org, Device: id.New[id.Device](), Session: "81000001", User: "amina",
		MAC: "AA:BB:CC:00:11:22", IP: netip.MustParseAddr("100.64.0.9"), Online: time.Minute, Down: 70, Up: 7, At: at,
		Link: netip.MustParsePrefix("2001:db8:0:1::/64"), Network: netip.MustParsePrefix("2001:db8:100::/56"),
	}
	later := report
	later.At, later.Online, later.Down, later.Up = at.Add(time.Hour), 61*time.Minute, 100, 10
	if _, err := store.Commit(t.Context(), telemetry.Directory{
		Resolve: func(telemetry.Report) telemetry.Given {
			return telemetry.Given{
				Subscriber: l.subscriber, Subscription: id.As[id.Subscription](l.subscriber), Access: "full",
				RateDown: 10_000, RateUp: 5_000,
			}
		},
		Zone: func(id.Organization) *time.Location { return zone },
	}, []telemetry.Report{report, later}); err != nil {
		t.Fatal(err)
	}
	return l
}

// Record implements the records of questions about addresses.
func (l *line) Record(_ context.Context, asked usecases.Asked, q accesscases.Lookup) error {
	l.questions = append(l.questions, fmt.Sprint(asked.Org(), " ", q.Address, " ", q.HadAt.Format(time.RFC3339), " ",
		q.Holders))
	return l.refuse
}

// names implements the names of routers: all of Acme are called tower.
func (l *line) names(_ context.Context, org id.Organization, devices []id.Device) (map[id.Device]string, error) {
	names := map[id.Device]string{}
	for _, d := range devices {
		if org == l.org {
			names[d] = "tower"
		}
	}
	return names, nil
}

// want sends a GET and checks status and code.
func (l *line) want(t *testing.T, status int, code, as, path string) apitest.Answer {
	t.Helper()
	return l.wantAt(t, status, code, apitest.Request{Path: path, As: as})
}

// wantAt sends any request, such as one to another host, and checks status and code.
func (l *line) wantAt(t *testing.T, status int, code string, r apitest.Request) apitest.Answer {
	t.Helper()
	a := l.Do(t, r)
	if a.Status != status || code != "" && a.Code() != code {
		t.Fatalf("%s: %d %s", r.Path, a.Status, a.Body)
	}
	return a
}

func TestSessions_AreShownToSupportOfTheirOrganizationOnly(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	var list struct {
		Data []struct{ ID string }
	}
	a := l.want(t, 200, "", apitest.Support, "/sessions?online=true&username=amina&subscriberId="+l.subscriber.String())
	a.Into(t, &list)
	if len(list.Data) != 1 {
		t.Fatalf("%s", a.Body)
	}
	one := l.want(t, 200, "", apitest.Support, "/sessions/"+list.Data[0].ID)
	for _, part := range []string{
		`"ipAddress":"100.64.0.9"`, `"macAddress":"AA:BB:CC:00:11:22"`, `"bytesIn":100,"bytesOut":10`,
		`"deviceName":"tower"`,
		`"startedAt":"2026-03-02T20:29:00Z","updatedAt":"2026-03-02T21:30:00Z","endedAt":null,"endReason":null`,
		`"access":"full","rate":{"down":10000,"up":5000}`,
	} {
		if !strings.Contains(string(one.Body), part) || !strings.Contains(string(a.Body), part) {
			t.Errorf("no %s in %s", part, one.Body)
		}
	}
	other := apitest.Request{Path: "/sessions/" + list.Data[0].ID, As: apitest.OtherAdmin, Host: apitest.Other}
	l.wantAt(t, 404, "session_not_found", other)
	other.Path = "/sessions"
	if a := l.wantAt(t, 200, "", other); strings.Contains(string(a.Body), "amina") {
		t.Errorf("%s", a.Body)
	}
	l.want(t, 401, "", "", "/sessions")
}

func TestSessions_ACustomerSeesTheOwnWithoutTheRouter(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	var list struct{ Data []struct{ ID string } }
	a := l.want(t, 200, "", apitest.Support, "/sessions")
	if err := json.Unmarshal(a.Body, &list); err != nil || len(list.Data) != 1 {
		t.Fatalf("%v %s", err, a.Body)
	}
	one := "/sessions/" + list.Data[0].ID
	of := "/sessions?subscriberId=" + l.subscriber.String()
	l.CustomerSees(id.New[id.Subscriber]())
	same(t, l.want(t, 200, "", apitest.Subscriber, "/sessions").Body, `{"data":[],"nextCursor":null,"hasMore":false}`)
	l.want(t, 404, "session_not_found", apitest.Subscriber, one)
	l.want(t, 404, "subscriber_not_found", apitest.Subscriber, of)
	l.CustomerSees(l.subscriber)
	for _, path := range []string{"/sessions", of, one} {
		a := l.want(t, 200, "", apitest.Subscriber, path)
		if !strings.Contains(string(a.Body), `"deviceName":null`) || strings.Contains(string(a.Body), "tower") ||
			!strings.Contains(string(a.Body), "amina") {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	l.want(t, 403, "role_required", apitest.Subscriber, "/sessions?ip=100.64.0.9&at=2026-03-02T21:00:00Z")
	if len(l.questions) != 0 {
		t.Errorf("a customer's question is recorded as staff's: %v", l.questions)
	}
}

func TestSessions_WhoHadAnAddressIsAnsweredAfterItIsAudited(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	question := "/sessions?ip=100.64.0.9&at=2026-03-02T21:00:00Z"
	if a := l.want(t, 200, "", apitest.Support, question); !strings.Contains(string(a.Body), "amina") {
		t.Errorf("%s", a.Body)
	}
	if len(l.questions) != 1 || l.questions[0] != fmt.Sprint(
		l.org, " 100.64.0.9 2026-03-02T21:00:00Z ", []id.Subscriber{l.subscriber}) {
		t.Errorf("%v", l.questions)
	}
	l.want(t, 200, "", apitest.Support, "/sessions?ip=100.64.0.9&at=2026-03-02") // a date of the organization
	if last := l.questions[len(l.questions)-1]; !strings.Contains(last, " 2026-03-01T21:00:00Z ") {
		t.Errorf("asked %s", last)
	}
	l.refuse = errors.New("the log is away")
	if a := l.want(t, 500, "", apitest.Support, question); strings.Contains(string(a.Body), "amina") {
		t.Errorf("%s", a.Body)
	}
	for _, bad := range []string{
		"ip=100.64.0.9", "at=2026-03-02T21:00:00Z", "ip=x&at=2026-03-02", "ip=fe80::1%25a&at=2026-03-02",
		"ip=100.64.0.9&at=yesterday", "ip=100.64.0.9&at=2031-03-02", "ip=100.64.0.9&at=2026-03-03T09:00:01Z",
	} {
		a := l.want(t, 422, "invalid_input", apitest.Support, "/sessions?"+bad)
		alone := !strings.Contains(bad, "&")
		if strings.Contains(string(a.Body), "together") != alone {
			t.Errorf("%s: %s", bad, a.Body)
		}
	}
}

// An address has many spellings, and a customer all addresses of a prefix.
func TestSessions_AnAddressIsFoundAndAuditedInAnySpelling(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	for typed, audited := range map[string]string{
		"::ffff:100.64.0.9": "100.64.0.9", "::FFFF:6440:9": "100.64.0.9", "2001:DB8:0:1::9": "2001:db8:0:1::9",
		"2001:0db8:0000:0001:0:0:0:0009": "2001:db8:0:1::9", "2001:db8:100:00FF::1": "2001:db8:100:ff::1",
		"2001:db8:0:2::9": "2001:db8:0:2::9",
	} {
		l.questions = nil
		a := l.want(t, 200, "", apitest.Support, "/sessions?at=2026-03-02T21:00:00Z&ip="+typed)
		found := audited != "2001:db8:0:2::9" // which nobody has
		if strings.Contains(string(a.Body), "amina") != found || len(l.questions) != 1 ||
			!strings.Contains(l.questions[0], " "+audited+" ") {
			t.Errorf("%s: %v %s", typed, l.questions, a.Body)
		}
	}
}

func TestUsage_HasAnEntryForEachDayOfTheOrganization(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	path := "/subscribers/" + l.subscriber.String() + "/usage"
	days := l.want(t, 200, "", apitest.Support, path+"?from=2026-03-01&to=2026-03-03")
	same(t, days.Body, `{"cap":null,"data":[
		{"from":"2026-02-28T21:00:00Z","to":"2026-03-01T21:00:00Z","bytesIn":0,"bytesOut":0,"seconds":0},
		{"from":"2026-03-01T21:00:00Z","to":"2026-03-02T21:00:00Z","bytesIn":70,"bytesOut":7,"seconds":1860},
		{"from":"2026-03-02T21:00:00Z","to":"2026-03-03T21:00:00Z","bytesIn":30,"bytesOut":3,"seconds":1800}]}`)
	same(t, l.want(t, 200, "", apitest.Support, path).Body, string(days.Body)) // this month until now
	same(t, l.want(t, 200, "", apitest.Support, path+"?step=month").Body, `{"cap":null,"data":[
		{"from":"2026-02-28T21:00:00Z","to":"2026-03-31T21:00:00Z","bytesIn":100,"bytesOut":10,"seconds":3660}]}`)
	for _, bad := range []string{"step=week", "from=x", "from=2026-03-04&to=2026-03-02", "from=2024-01-01"} {
		l.want(t, 422, "invalid_input", apitest.Support, path+"?"+bad)
	}
	l.want(t, 404, "subscriber_not_found", apitest.Support, "/subscribers/"+id.New[id.Subscriber]().String()+"/usage")
	l.want(t, 404, "subscriber_not_found", apitest.Subscriber, path)
	l.CustomerSees(l.subscriber)
	l.stand = &accesscases.CapStand{
		Allowed: 1500, Used: 110, ResetsAt: time.Date(2026, 3, 31, 21, 0, 0, 0, time.UTC),
	}
	same(t, l.want(t, 200, "", apitest.Subscriber, path+"?step=month").Body, `{
		"cap":{"bytes":1500,"used":110,"resetsAt":"2026-03-31T21:00:00Z"},"data":[
		{"from":"2026-02-28T21:00:00Z","to":"2026-03-31T21:00:00Z","bytesIn":100,"bytesOut":10,"seconds":3660}]}`)
}
