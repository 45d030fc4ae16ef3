package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/changes"
)

// updateChanges rewrites the list of what events tell: go test ./cmd/lastmile -run TestStream_EachEvent -update-changes
var updateChanges = flag.Bool("update-changes", false, "rewrite testdata/changes.golden")

// change is one event of a stream of changes, with the position from which to go on.
type change struct {
	Topic, ID, SubscriberID, Type, Reason string
	At                                    time.Time
	last                                  string
}

// changes is an open stream of changes.
type changes struct {
	t      testing.TB
	list   chan change // closed at the end; each block, also those without data
	close  context.CancelFunc
	status int
}

// stream opens the stream of changes of a client, which begins now.
func (k *kit) stream(c apiClient) *changes {
	k.t.Helper()
	s := k.streamFrom(c, "")
	s.next() // the beginning
	return s
}

// streamFrom opens the stream of changes of a client; last is the last position that it has, "" = none.
func (k *kit) streamFrom(c apiClient, last string) *changes {
	k.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(k.t.Context()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.addr+"/events/stream", nil)
	if err != nil {
		k.t.Fatal(err)
	}
	req.Host = c.host
	req.Header.Set("Authorization", "Bearer "+c.token)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	transport := &http.Transport{}
	answer, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		cancel()
		k.t.Fatal(err)
	}
	s := &changes{t: k.t, list: make(chan change, 10_000), close: cancel, status: answer.StatusCode}
	go func() {
		defer transport.CloseIdleConnections()
		defer func() { _ = answer.Body.Close() }()
		s.read(answer.Body)
	}()
	atEnd(k.t, cancel)
	return s
}

// read reads blocks until the stream ends.
func (s *changes) read(from io.Reader) {
	defer close(s.list)
	lines := bufio.NewScanner(from)
	var one change
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			one.last = value
		case "data":
			_ = json.Unmarshal([]byte(value), &one) // a test looks at what it expects
		case "":
			if lines.Text() == "" {
				s.list <- one
				one = change{}
			}
		}
	}
}

// next waits for the next block; a zero one when the stream has ended.
func (s *changes) next() change {
	s.t.Helper()
	select {
	case one := <-s.list:
		return one
	case <-time.After(patience):
		s.t.Fatal("nothing is told")
		return change{}
	}
}

// until gives what is told until a change of a topic; ids counts only when it is not "".
func (s *changes) until(topic, of string) (list []change) {
	s.t.Helper()
	for {
		one := s.next()
		if list = append(list, one); one == (change{}) {
			s.t.Fatalf("the stream ended before a change of %s: %+v", topic, list)
		}
		if one.Topic == topic && (of == "" || one.ID == of) {
			return list
		}
	}
}

// position is the newest position in some changes.
func position(list []change) (last string) {
	for _, one := range list {
		if one.last != "" {
			last = one.last
		}
	}
	return last
}

func TestStream_WhoReadsAfterItFindsTheChange(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.stream(k.admin)
	for i := range 20 {
		subscriber := id.New[id.Subscriber]().String()
		phone := fmt.Sprintf("25471100%04d", i)
		done := make(chan struct{})
		go func() {
			defer close(done)
			subscriber, _ = k.subscriber(phone)
		}()
		told := s.until("subscribers", "")
		got := told[len(told)-1]
		if a := k.must(k.admin, "GET", "/subscribers/"+got.ID, nil); a.text("phone") != "+"+phone {
			t.Fatalf("told of %+v, found %v", got, a)
		}
		<-done
		if got.ID != subscriber || got.SubscriberID != subscriber || got.Type != "subscribers.SubscriberRegistered" {
			t.Fatalf("told of %+v, want %s", got, subscriber)
		}
	}
}

func TestStream_AForeignOrganizationHearsNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	root := k.stream(k.root)
	beta := k.organization("beta", "admin@beta.test")
	org := k.organizationID("beta").String()
	for seated := false; !seated; { // what was told of its own beginning is over
		told := root.until("orgs", org)
		seated = told[len(told)-1].Type == "identity.AdministratorSeated"
	}
	foreign, own := k.stream(beta), k.stream(k.admin)
	subscriber, _ := k.subscriber("254711000801")
	k.subscribe(subscriber, k.plan("home", 1500))
	k.staff(events.RoleSupport)
	own.until("invoices", "")
	theirs := []string{
		k.must(beta, "GET", "/auth/me", nil).text("id"), // of its new password
		k.must(beta, "POST", "/subscribers", map[string]any{"firstName": "Beta", "phone": "+254711000802"}).text("id"),
	}
	for _, one := range foreign.until("subscribers", "") {
		if one.Topic != "" && !slices.Contains(theirs, one.ID) {
			t.Errorf("a foreign organization hears of %+v", one)
		}
	}
	k.organization("gamma", "admin@gamma.test")
	for _, one := range root.until("orgs", "") {
		if one.Topic != "" && one.Topic != "orgs" && one.Topic != "breakers" {
			t.Errorf("the root host hears of %+v", one)
		}
	}
	k.refused(beta, "GET /subscribers/"+subscriber, nil, 404, "")
	if s := k.stream(apiClient{addr: k.addr, host: k.admin.host, token: beta.token}); s.status != 401 {
		t.Errorf("a foreign admin gets %d at our host", s.status)
	}
}

func TestStream_SupportHearsOfNothingThatItMayNotRead(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	support := apiClient{addr: k.addr, host: k.admin.host, token: k.staff(events.RoleSupport)}
	admins, supports := k.stream(k.admin), k.stream(support)
	device := k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "Tower", "ipAddress": "10.0.0.1", "radiusSecret": "secret-of-tower",
	}).text("id")
	admins.until("devices", device)
	k.staff(events.RoleSubscriber)
	admins.until("users", "")
	subscriber, _ := k.subscriber("254711000803")
	for _, one := range supports.until("subscribers", subscriber) {
		if slices.Contains([]string{"devices", "services", "users", "payment-gateway", "breakers"}, one.Topic) {
			t.Errorf("support hears of %+v", one)
		}
	}
}

// TestStream_RolesAreThoseOfTheEndpoints: a topic is heard by those who may read it, and by nobody else.
func TestStream_RolesAreThoseOfTheEndpoints(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	for _, name := range changesviews.Reset.Texts() {
		topic := changesviews.Topic(name)
		if topic == changesviews.Reset {
			continue
		}
		var hosts httpapi.Hosts
		for _, r := range server.Routes() {
			if r.Method != http.MethodGet || r.Path != topic.Path() {
				continue
			}
			hosts |= r.Hosts
			role := events.Role(r.Access)
			if role == events.RoleSubscriber {
				role = events.RoleSupport // customers have no stream
			}
			if r.Hosts&httpapi.OnOrganization != 0 && role != topic.Role() || !role.AtLeast(topic.Role()) {
				t.Errorf("%s is read by %s, and told to %s", name, r.Access, topic.Role())
			}
		}
		for host, organization := range map[httpapi.Hosts]bool{httpapi.OnOrganization: true, httpapi.OnRoot: false} {
			if read, told := hosts&host != 0, topic.Hears(events.RoleSuperAdmin, organization); read != told {
				t.Errorf("%s, of an organization %v: read %v, told %v", name, organization, read, told)
			}
		}
	}
}

// TestStream_EachEventTellsWhatItChanges keeps the list of what events tell, so that a change of it is seen.
func TestStream_EachEventTellsWhatItChanges(t *testing.T) {
	t.Parallel()
	const file = "testdata/changes.golden"
	translate := changesByEvents()
	var text strings.Builder
	for _, e := range catalog.Events() {
		fmt.Fprintf(&text, "%s:", e.EventType())
		org := id.Derive[id.Organization]("changes", "org")
		for _, c := range translate.Of(&events.Envelope{
			Type: e.EventType(), Event: e, Meta: events.Metadata{OrgID: org},
		}) {
			if c.OrgID.IsZero() {
				fmt.Fprintf(&text, " root:%s", c.Topic)
			} else {
				fmt.Fprintf(&text, " %s", c.Topic)
			}
		}
		text.WriteByte('\n')
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	if *updateChanges {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("what events tell (-golden +got):\n%s", diff)
	}
}

// TestStream_MoneyThatMovesIsToldToBothOrganizations, and to the platform.
func TestStream_MoneyThatMovesIsToldToBothOrganizations(t *testing.T) {
	t.Parallel()
	moved := events.ReceiptAssigned{
		ReceiptID: id.New[id.Receipt](), OrgID: id.New[id.Organization](), From: id.New[id.Organization](),
	}
	heard := map[id.Organization]bool{}
	for _, c := range changesByEvents().Of(&events.Envelope{Type: moved.EventType(), Event: moved}) {
		if c.Topic == changesviews.Receipts && c.ID == id.Any(moved.ReceiptID) {
			heard[c.OrgID] = true
		}
	}
	if len(heard) != 3 || !heard[moved.OrgID] || !heard[moved.From] || !heard[id.Organization{}] {
		t.Errorf("of %+v hear %v", moved, heard)
	}
}

func TestStream_GoesOnWithoutAGapAlsoOverARestart(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.stream(k.admin)
	first, _ := k.subscriber("254711000804")
	last := position(s.until("timeline", first))
	s.close()
	var missed []string
	for i := range 3 {
		subscriber, _ := k.subscriber(fmt.Sprintf("25471100081%d", i))
		missed = append(missed, subscriber)
	}
	comesBack := func() {
		t.Helper()
		again := k.streamFrom(k.admin, last)
		var got []string
		for len(got) < len(missed) {
			if one := again.next(); one == (change{}) || one.Topic == "reset" || one.ID == first {
				t.Fatalf("told of %+v after %v", one, got)
			} else if one.Topic == "subscribers" {
				got = append(got, one.ID)
			}
		}
		if diff := cmp.Diff(missed, got); diff != "" {
			t.Errorf("told of what was missed (-want +got):\n%s", diff)
		}
	}
	comesBack()
	k.app.Stop()
	k.start()
	k.admin.addr = k.addr
	comesBack()
	if one := k.streamFrom(k.admin, "999999999999999").next(); one.Topic != "reset" {
		t.Errorf("a position beyond the log is answered with %+v", one)
	}
}

func TestStream_NeitherAStopNorTheClockWaitsForIt(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	s := k.stream(k.admin)
	began := time.Now()
	k.must(k.root, "POST", "/dev/clock", map[string]any{"advance": "1m"})
	subscriber, _ := k.subscriber("254711000821")
	s.until("timeline", subscriber) // the last of its changes
	k.must(k.root, "POST", "/dev/clock", map[string]any{"advance": "1h"})
	if took := time.Since(began); took > movePatience {
		t.Errorf("the clock has waited for %v", took)
	}
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.subscriber("254711000822")
	for one := s.next(); one.Reason != "unauthenticated"; one = s.next() {
		if one.Topic != "" || one == (change{}) {
			t.Fatalf("an expired sign-in is told of %+v", one)
		}
	}
	s = k.stream(k.admin)
	k.app.Stop()
	if strings.Contains(k.log.last(100), "http requests cut") {
		t.Error("the stop has cut streams")
	}
	for one := s.next(); one.Reason != "stopping"; one = s.next() {
		if one == (change{}) {
			t.Fatal("a stream ends without a reason")
		}
	}
}

func TestStream_TheEndOfASessionEndsIt(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	other, _ := k.login("acme", testAdminEmail, testPassword)
	watched := k.stream(k.admin)
	after, _ := k.subscriber("254711000830")
	watched.until("subscribers", after) // so the sign-in was told, too
	s := k.stream(other)
	k.must(other, "POST", "/auth/logout", nil)
	k.subscriber("254711000831")
	for one := s.next(); one.Reason != "unauthenticated"; one = s.next() {
		if one.Topic != "" || one == (change{}) {
			t.Fatalf("a signed out user is told of %+v", one)
		}
	}
}

func TestStream_TellsWhichSessionsBeginAndEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	beta := k.organization("beta", "admin@beta.test")
	class := k.signedIn(k.admin, ours)
	s, foreign := k.stream(k.admin), k.stream(beta)
	var session string
	for _, c := range []struct {
		status rfc2866.AcctStatusType
		want   string
	}{
		{rfc2866.AcctStatusType_Value_Start, "access.SessionBegan"},
		{rfc2866.AcctStatusType_Value_InterimUpdate, ""},
		{rfc2866.AcctStatusType_Value_Stop, "access.SessionEnded"},
	} {
		k.report(ours, class, told{
			session: "81000001", mac: "AA-BB-CC-00-11-22", status: c.status, online: time.Second,
		})
		if c.want == "" {
			continue // a report about an open session changes only what it has used
		}
		list := s.until("sessions", "")
		got := list[len(list)-1]
		shown := k.must(k.admin, "GET", "/sessions/"+got.ID, nil)
		if got.Type != c.want || got.SubscriberID != ours.subscriber || session != "" && got.ID != session ||
			shown.text("subscriberId") != ours.subscriber {
			t.Fatalf("told of %+v, found %v", got, shown)
		}
		session = got.ID
	}
	theirs := k.must(beta, "POST", "/subscribers", map[string]any{"firstName": "Beta", "phone": "+254711000832"})
	for _, one := range foreign.until("subscribers", theirs.text("id")) {
		if one.Topic == "sessions" {
			t.Errorf("a foreign organization hears of %+v", one)
		}
	}
}
