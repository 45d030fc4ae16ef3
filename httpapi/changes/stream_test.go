package changesapi_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/changes"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/changes"
	"github.com/lastmile-isp/lastmile/usecases"
)

func TestStream_IsNotKeptGatheredOrCompressed(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{})
	s := k.open(t, apitest.Request{As: apitest.Support, Header: map[string]string{"Accept-Encoding": "gzip"}})
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no",
		"Content-Encoding": "",
	} {
		if got := s.answer.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if first := s.next(t); first.raw != "retry: 3000\nid: 0\n\n" {
		t.Errorf("begins with %q", first.raw)
	}
	what := id.New[id.Any]()
	k.tell("acme", changesviews.Invoices, what)
	want := fmt.Sprintf("data: {\"topic\":\"invoices\",\"id\":%q,\"type\":\"test.Changed\","+
		"\"at\":\"2026-03-01T12:00:00Z\"}\nid: 0\n\n", what.String())
	if got := s.message(t); got.raw != want {
		t.Errorf("%q, want %q", got.raw, want)
	}
}

func TestStream_EachRoleHearsOfWhatItMayRead(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{})
	support, admin := k.open(t, apitest.Request{As: apitest.Support}), k.open(t, apitest.Request{As: apitest.Admin})
	root := k.open(t, apitest.Request{As: apitest.Super, Host: apitest.Domain})
	other := k.open(t, apitest.Request{As: apitest.OtherAdmin, Host: apitest.Other})
	for _, s := range []*stream{support, admin, root, other} {
		s.next(t)
	}
	for _, topic := range []changesviews.Topic{
		changesviews.Devices, changesviews.Services, changesviews.Users, changesviews.PaymentGateway,
		changesviews.Breakers, changesviews.Plans,
	} {
		k.tell("acme", topic, id.New[id.Any]())
		if got := admin.message(t); got.data.Topic != topic {
			t.Fatalf("an admin hears of %s, want %s", got.data.Topic, topic)
		}
	}
	// Where customers pay, and what for, is told to all staff.
	for _, topic := range []changesviews.Topic{changesviews.PaymentGateway, changesviews.Plans} {
		if got := support.message(t); got.data.Topic != topic {
			t.Errorf("support hears of %s, want %s", got.data.Topic, topic)
		}
	}
	k.tell("other", changesviews.Invoices, id.New[id.Any]())
	if got := other.message(t); got.data.Topic != changesviews.Invoices {
		t.Errorf("the admin of another organization hears of %s", got.data.Topic)
	}
	k.hub.Tell(changesviews.Change{Topic: changesviews.Orgs, At: noon})
	if got := root.message(t); got.data.Topic != changesviews.Orgs {
		t.Errorf("the root host hears of %s", got.data.Topic)
	}
}

func TestStream_ACustomerHearsNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{})
	for _, c := range []struct {
		as, host, code string
		status         int
	}{
		{apitest.Subscriber, apitest.Acme, "role_required", 403}, {"", apitest.Acme, "unauthenticated", 401},
		{apitest.OtherAdmin, apitest.Acme, "unauthenticated", 401},
		{apitest.Admin, apitest.Domain, "unauthenticated", 401},
	} {
		got := k.Do(t, apitest.Request{Path: "/events/stream", As: c.as, Host: c.host})
		if got.Status != c.status || got.Code() != c.code {
			t.Errorf("%s at %s gets %d %s", c.as, c.host, got.Status, got.Body)
		}
	}
}

func TestStream_IsNotOpenedForAPageOfSomebodyElse(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{})
	own, other := k.Callers[apitest.Admin].UserID.String(), k.Callers[apitest.Support].UserID.String()
	for _, r := range []apitest.Request{
		{Path: "?expectedUser=" + other}, {Path: "?expectedUser="}, {Path: "?expectedUser=" + own + "&expectedUser=x"},
		{Header: map[string]string{"X-Expected-User": other}},
		{Path: "?expectedUser=" + own, Header: map[string]string{"X-Expected-User": other}},
	} {
		r.Path, r.As = "/events/stream"+r.Path, apitest.Admin
		if got := k.Do(t, r); got.Status != http.StatusConflict || got.Code() != "another_person" {
			t.Errorf("%s %v gets %d %s", r.Path, r.Header, got.Status, got.Body)
		}
	}
	if n := k.hub.Counts().Open; n != 0 {
		t.Errorf("%d streams are open", n)
	}
	s := k.open(t, apitest.Request{As: apitest.Admin, Path: "?expectedUser=" + own})
	s.next(t)
	k.tell("acme", changesviews.Invoices, id.New[id.Any]())
	if got := s.message(t); got.data.Topic != changesviews.Invoices {
		t.Errorf("the expected one hears %q", got.raw)
	}
}

func TestStream_ManyChangesOfATopicAreToldAsOne(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{Every: 50 * time.Millisecond})
	s := k.open(t, apitest.Request{As: apitest.Support})
	s.next(t)
	var list []changesviews.Change
	for range 10_000 {
		list = append(list, changesviews.Change{
			OrgID: k.Orgs["acme"].ID, Topic: changesviews.Sessions, ID: id.New[id.Any](), At: noon,
		})
	}
	k.hub.Tell(append(list, changesviews.Change{OrgID: k.Orgs["acme"].ID, Topic: changesviews.Plans, At: noon})...)
	if got := s.message(t); got.data.Topic != changesviews.Sessions || !got.data.ID.IsZero() || got.data.Type != "" {
		t.Errorf("a power cut is told as %q", got.raw)
	}
	if got := s.message(t); got.data.Topic != changesviews.Plans {
		t.Errorf("after a power cut comes %q", got.raw)
	}
}

// signedOut ends a sign-in.
func signedOut(*httpapi.Caller) error { return usecases.ErrSignIn() }

func TestStream_EndsWithTheAccessOfItsReader(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{Heartbeat: 10 * time.Millisecond})
	for _, c := range []struct {
		as, host, reason string
		change           func(*httpapi.Caller) error
	}{
		{apitest.Admin, apitest.Acme, "role_changed", func(c *httpapi.Caller) error {
			c.Role = events.RoleSupport
			return nil
		}},
		{apitest.Support, apitest.Acme, "password_change_required", func(c *httpapi.Caller) error {
			c.MustChangePassword = true
			return nil
		}},
		{apitest.OtherAdmin, apitest.Other, "unauthenticated", signedOut},
	} {
		s := k.open(t, apitest.Request{As: c.as, Host: c.host})
		s.next(t)
		k.access.change(c.as, c.change)
		if got := s.message(t); got.name != "end" || !strings.Contains(got.raw, `data: {"reason":"`+c.reason+`"}`) {
			t.Errorf("%s: %q", c.reason, got.raw)
		}
		if got := s.next(t); got.raw != "" {
			t.Errorf("after its end it tells %q", got.raw)
		}
	}
}

func TestStream_NothingIsToldAfterTheAccessHasEnded(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{})
	s := k.open(t, apitest.Request{As: apitest.Admin})
	s.next(t)
	k.access.change(apitest.Admin, signedOut)
	k.tell("acme", changesviews.Users, id.New[id.Any]())
	if got := s.message(t); got.name != "end" {
		t.Errorf("a reader without access hears %q", got.raw)
	}
}

func TestStream_TheEndOfTheProgramEndsIt(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{})
	s := k.open(t, apitest.Request{As: apitest.Admin})
	s.next(t)
	k.hub.End()
	if got := s.message(t); got.name != "end" || !strings.Contains(got.raw, "stopping") {
		t.Errorf("the last event is %q", got.raw)
	}
	got := k.Do(t, apitest.Request{Path: "/events/stream", As: apitest.Admin})
	if got.Status != http.StatusServiceUnavailable || got.Code() != "stopping" {
		t.Errorf("a new stream gets %d %s", got.Status, got.Body)
	}
}

func TestStream_ShowsThatItLivesAndHowFarItIs(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{Heartbeat: 10 * time.Millisecond})
	s := k.open(t, apitest.Request{As: apitest.Admin})
	s.next(t)
	for range 3 {
		if got := s.next(t); got.raw != "event: alive\ndata: {\"serves\":\"all\"}\nid: 0\n\n" {
			t.Errorf("a stream without changes tells %q", got.raw)
		}
	}
}

// A page that asks for nothing hears at once that nothing can be read, and that it can be again; what changed meanwhile
// is told beside it.
func TestStream_SaysAtOnceWhatTheProgramCanDo(t *testing.T) {
	t.Parallel()
	var now atomic.Value
	now.Store(changesapi.ServesAll)
	k := newKit(t, changesapi.Config{
		Heartbeat: time.Hour, Look: time.Millisecond,
		Serves: func() changesapi.Serving { return now.Load().(changesapi.Serving) },
	})
	s := k.open(t, apitest.Request{As: apitest.Admin})
	s.next(t)
	for _, serves := range []changesapi.Serving{
		changesapi.ServesAll, changesapi.ServesReads, changesapi.ServesNothing, changesapi.ServesAll,
	} {
		now.Store(serves)
		if got := s.next(t); got.name != "alive" || !strings.Contains(got.raw, `{"serves":"`+string(serves)+`"}`) {
			t.Errorf("when it serves %s it tells %q", serves, got.raw)
		}
	}
	k.tell("acme", changesviews.Plans, id.New[id.Any]())
	if got := s.next(t); got.data.Topic != changesviews.Plans {
		t.Errorf("then it tells %q", got.raw)
	}
}

func TestStream_APositionThatNobodyKnowsMeansToReadEverythingAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{})
	for _, r := range []apitest.Request{
		{As: apitest.Admin, Path: "?lastEventId=never"},
		{As: apitest.Admin, Header: map[string]string{"Last-Event-ID": "18446744073709551616"}},
		{As: apitest.Admin, Header: map[string]string{"Last-Event-ID": "-1"}},
	} {
		if got := k.open(t, r).next(t); got.data.Topic != changesviews.Reset || !got.data.At.Equal(noon.UTC()) {
			t.Errorf("%v: %q", r, got.raw)
		}
	}
}

func TestStream_OneUserAndAllTogetherHaveALimit(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{PerUser: 2, Most: 7})
	first := k.open(t, apitest.Request{As: apitest.Admin})
	first.next(t)
	k.open(t, apitest.Request{As: apitest.Admin}).next(t)
	refused := func(as, code string, status int) {
		t.Helper()
		got := k.Do(t, apitest.Request{Path: "/events/stream", As: as})
		if got.Status != status || got.Code() != code || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s gets %d %s", as, got.Status, got.Body)
		}
	}
	refused(apitest.Admin, "too_many_streams", 429)
	k.open(t, apitest.Request{As: apitest.Support}).next(t)
	refused(apitest.Support, "streams_full", 503)
	first.close()
	for k.hub.Counts().Open > 2 {
		time.Sleep(time.Millisecond)
	}
	k.open(t, apitest.Request{As: apitest.Support}).next(t)
}

func TestStream_OneOrganizationTakesNoOthersStreams(t *testing.T) {
	t.Parallel()
	const most = 8
	k := newKit(t, changesapi.Config{PerUser: most, Most: most})
	flood := func(as, host string) (open int) {
		for {
			before := k.hub.Counts().Open
			s := k.open(t, apitest.Request{As: as, Host: host})
			if s.answer.StatusCode != http.StatusOK {
				if s.answer.StatusCode != http.StatusServiceUnavailable || k.hub.Counts().Open != before {
					t.Errorf("%s at %s is refused with %d", as, host, s.answer.StatusCode)
				}
				return open
			}
			s.next(t)
			open++
		}
	}
	if n := flood(apitest.Admin, apitest.Acme); n != most/2 {
		t.Errorf("one organization alone has %d of %d", n, most)
	}
	if n := flood(apitest.Support, apitest.Acme); n != 0 {
		t.Errorf("further users of it have %d more", n)
	}
	for _, other := range []struct{ as, host string }{
		{apitest.OtherAdmin, apitest.Other}, {apitest.Super, apitest.Domain},
	} {
		if n := flood(other.as, other.host); n == 0 {
			t.Errorf("none is left for %s", other.host)
		}
	}
}

// A reader who takes nothing fills the buffers of his connection and is left behind.
func TestStream_WhoDoesNotReadIsDropped(t *testing.T) {
	t.Parallel()
	k := newKit(t, changesapi.Config{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(k.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil { //nolint:forcetypeassert // it is TCP
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "GET /events/stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		apitest.Acme, apitest.Admin)
	if err != nil {
		t.Fatal(err)
	}
	reading := k.open(t, apitest.Request{As: apitest.Support})
	reading.next(t)
	for deadline := time.Now().Add(waittest.Limit); k.hub.Counts().Dropped == 0; {
		if time.Now().After(deadline) {
			t.Fatal("a reader who does not read is kept")
		}
		for range 20 {
			k.tell("acme", changesviews.Invoices, id.New[id.Any]())
		}
		reading.message(t)
	}
}
