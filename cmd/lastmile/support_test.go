package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// supported is a customer at the portal with a request, and a member of staff with the role support.
type supported struct {
	*kit
	customer, support apiClient
	subscriber        string
	request           string
}

// asksForSupport makes a customer with a phone who has asked for support.
func (k *kit) asksForSupport(phone string) supported {
	k.t.Helper()
	s := supported{kit: k, support: apiClient{addr: k.addr, host: k.admin.host, token: k.staff(events.RoleSupport)}}
	s.subscriber, _ = k.subscriber(phone[1:])
	k.seen(s.subscriber, map[string]string{})
	s.customer = k.atPortal("acme", phone, 1)
	s.request = k.must(s.customer, "POST", "/support-requests", map[string]any{
		"subject": " It is slow ", "text": "Every evening.\nSince Monday.",
	}).text("id")
	return s
}

// texts are those of a request as somebody reads them: who, and what.
func (s supported) texts(as apiClient) []string {
	s.t.Helper()
	var out []string
	for _, m := range s.must(as, "GET", "/support-requests/"+s.request, nil).list("messages") {
		out = append(out, m.text("side")+" "+m.text("from")+": "+m.text("text"))
	}
	return out
}

// write adds a text.
func (s supported) write(as apiClient, text string, internal bool) answer {
	s.t.Helper()
	body := map[string]any{"text": text}
	if internal {
		body["internal"] = true
	}
	return s.must(as, "POST", "/support-requests/"+s.request+"/messages", body)
}

// TestSupport_ACustomerAsksStaffAnswersAndTheCustomerIsTold goes through the life of a request, as customer and staff.
func TestSupport_ACustomerAsksStaffAnswersAndTheCustomerIsTold(t *testing.T) {
	t.Parallel()
	const phone = "+254711000701"
	k := newKit(t).start().signIn()
	s := k.asksForSupport(phone)
	row := k.all(s.support, "/support-requests?state=open&unassigned=true")
	if len(row) != 1 || row[0].text("id") != s.request || row[0].text("waitingSince") == "" ||
		row[0].text("subject") != "It is slow" {
		t.Fatalf("staff see %v", row)
	}
	today := k.must(s.support, "GET", "/reports/today", nil)
	if today.at("pending.support") != "1" {
		t.Errorf("of today: %v", today["pending"])
	}
	me := k.must(s.support, "GET", "/auth/me", nil)
	k.must(s.support, "POST", "/support-requests/"+s.request+"/assign", map[string]any{"userId": me.text("id")})
	s.write(s.support, "Looks like the mast.", true)
	for _, text := range []string{"We look at it.", "It is the cable."} { // the second one is told with the first one
		if made := s.write(s.support, text, false); made.text("state") != "answered" || made["waitingSince"] != nil {
			t.Errorf("%s: %v", text, made)
		}
	}
	k.eventually("one message", func(ctx context.Context) (bool, error) {
		list, err := k.devMessages(ctx, phone)
		list = slices.DeleteFunc(list, func(m answer) bool { return m.text("template") != "support_answer" })
		return len(list) == 1 && strings.Contains(list[0].text("text"), "/portal/"), err
	})
	first, _, _ := strings.Cut(me.text("name"), " ")
	if first == "" {
		first = me.text("firstName")
	}
	want := []string{
		"customer customer: Every evening.\nSince Monday.", "staff " + first + ": We look at it.",
		"staff " + first + ": It is the cable.",
	}
	if got := s.texts(s.customer); !slices.Equal(got, want) {
		t.Errorf("the customer reads %q, want %q", got, want)
	}
	if got := s.texts(s.support); len(got) != 4 || !strings.Contains(got[1], "the mast") {
		t.Errorf("staff read %q", got)
	}
	if again := s.write(s.customer, "Still slow.", false); again.text("state") != "open" || again["assignee"] != nil {
		t.Errorf("written again: %v", again)
	}
	k.must(s.customer, "POST", "/support-requests/"+s.request+"/close", map[string]any{"reason": "it is fast now"})
	if reopened := s.write(s.customer, "No, it is not.", false); reopened.text("state") != "open" {
		t.Errorf("opened again: %v", reopened)
	}
	s.told()
}

// told checks what the timeline says of the story.
func (s supported) told() {
	s.t.Helper()
	var codes []string
	s.eventually("the timeline", func(ctx context.Context) (bool, error) {
		r, err := s.support.call(ctx, "GET", "/subscribers/"+s.subscriber+"/timeline?limit=100", "", nil)
		codes = nil
		for _, row := range r.list("data") {
			if code := row.text("code"); strings.HasPrefix(code, "support_") {
				codes = append(codes, code)
			}
		}
		return len(codes) == 8, err
	})
	want := []string{
		"support_reopened", "support_closed", "support_continued", "support_answered", "support_answered",
		"support_noted", "support_assigned", "support_asked",
	}
	if !slices.Equal(codes, want) {
		s.t.Errorf("told %v", codes)
	}
}

// TestSupport_NobodyReachesTheRequestsOfOthers, by reading or by writing: other customers, and another organization.
func TestSupport_NobodyReachesTheRequestsOfOthers(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.asksForSupport("+254711000702")
	other, _ := k.subscriber("254711000703")
	k.seen(other, map[string]string{})
	stranger := k.atPortal("acme", "+254711000703", 1)
	rival := k.organization("rival", "ada@rival.test")
	at, text := "/support-requests/"+s.request, map[string]any{"text": "Let me in."}
	for _, who := range []apiClient{stranger, rival} {
		k.refused(who, "GET "+at, nil, 404, "support_request_not_found")
		k.refused(who, "POST "+at+"/messages", text, 404, "support_request_not_found")
		k.refused(who, "POST "+at+"/close", map[string]any{}, 404, "support_request_not_found")
		k.refused(who, "POST /support-requests", map[string]any{
			"subscriberId": s.subscriber, "subject": "a", "text": "b",
		}, 404, "subscriber_not_found")
		if rows := k.all(who, "/support-requests"); len(rows) != 0 {
			t.Errorf("sees %v", rows)
		}
	}
	of := "/support-requests?subscriberId=" + s.subscriber
	k.refused(stranger, "GET "+of, nil, 404, "subscriber_not_found")
	if rows := k.all(rival, of); len(rows) != 0 {
		t.Errorf("another organization sees %v", rows)
	}
	k.refused(rival, "POST "+at+"/assign", map[string]any{"userId": nil}, 404, "support_request_not_found")
	k.refused(s.customer, "POST "+at+"/assign", map[string]any{"userId": nil}, 403, "role_required")
	k.refused(s.customer, "POST "+at+"/messages", map[string]any{"text": "a", "internal": true}, 403, "role_required")
	k.refused(s.customer, "GET /support-requests?unassigned=true", nil, 403, "role_required")
	mine := k.must(s.customer, "GET", "/auth/me", nil).text("id")
	theirs := k.must(rival, "GET", "/auth/me", nil).text("id")
	for _, user := range []string{mine, theirs, id.New[id.User]().String()} {
		k.refused(s.support, "POST "+at+"/assign", map[string]any{"userId": user}, 404, "user_not_found")
	}
	if got := s.texts(s.support); len(got) != 1 {
		t.Errorf("refused texts were taken: %q", got)
	}
}

// TestSupport_ACustomerWritesTwentyTextsADay: what is refused is not written, and what is malformed is not counted.
func TestSupport_ACustomerWritesTwentyTextsADay(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.asksForSupport("+254711000704")
	at := "/support-requests/" + s.request
	k.refused(s.customer, "POST "+at+"/messages", map[string]any{"text": " "}, 422, "invalid_input")
	k.refused(s.customer, "POST "+at+"/messages", map[string]any{"text": strings.Repeat("a", 4001)}, 422,
		"invalid_input")
	k.refused(s.customer, "POST /support-requests", map[string]any{"subject": "a\nb", "text": "c"}, 422,
		"invalid_input")
	for n := range 19 {
		s.write(s.customer, fmt.Sprint("text ", n), false)
	}
	k.refused(s.customer, "POST "+at+"/messages", map[string]any{"text": "one more"}, 429, "too_many_support_texts")
	k.refused(s.customer, "POST /support-requests", map[string]any{"subject": "a", "text": "b"}, 429,
		"too_many_support_texts")
	s.write(s.support, "We are here.", false) // staff are not counted
	if got := s.texts(s.customer); len(got) != 21 {
		t.Errorf("%d texts", len(got))
	}
	body := map[string]any{"text": "Once."}
	for range 2 {
		if _, err := s.support.call(t.Context(), "POST", at+"/messages", "the-same-key", body); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.texts(s.customer); len(got) != 22 {
		t.Errorf("a repeat was written again: %q", got)
	}
}

// TestSupport_WhoWaitsLongestComesFirst, page by page; what waits for nobody follows, the latest first.
func TestSupport_WhoWaitsLongestComesFirst(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.asksForSupport("+254711000705")
	want := []string{s.request}
	for _, subject := range []string{"second", "third", "answered first", "answered last"} {
		want = append(want, k.must(s.customer, "POST", "/support-requests", map[string]any{
			"subject": subject, "text": "a",
		}).text("id"))
	}
	for _, request := range want[3:] {
		k.must(s.support, "POST", "/support-requests/"+request+"/messages", map[string]any{"text": "b"})
	}
	want[3], want[4] = want[4], want[3]
	for path, want := range map[string][]string{
		"/support-requests?limit=1": want, "/support-requests?limit=1&state=open": want[:3],
		"/support-requests?limit=1&state=answered": want[3:], "/support-requests?state=closed": nil,
	} {
		var got []string
		for cursor := ""; ; {
			page := k.must(s.support, "GET", path+cursor, nil)
			for _, row := range page.list("data") {
				got = append(got, row.text("id"))
			}
			if page["hasMore"] != true {
				break
			}
			cursor = "&cursor=" + page.text("nextCursor")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// TestSupport_WhoSeesSeveralAccountsNamesOne, and who sees none asks for nothing.
func TestSupport_WhoSeesSeveralAccountsNamesOne(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	s := k.asksForSupport("+254711000706")
	second, _ := k.subscriber("254711000707")
	k.seen(second, map[string]string{"phone": "+254711000706"})
	body := map[string]any{"subject": "Two houses", "text": "Both are slow."}
	k.eventually("both accounts", func(context.Context) (bool, error) {
		return len(k.all(s.customer, "/me/subscribers")) == 2, nil
	})
	k.refused(s.customer, "POST /support-requests", body, 422, "invalid_input")
	body["subscriberId"] = second
	if made := k.must(s.customer, "POST", "/support-requests", body); made.text("subscriberId") != second {
		t.Errorf("made %v", made)
	}
	if rows := k.all(s.customer, "/support-requests?subscriberId="+second); len(rows) != 1 {
		t.Errorf("of the second one: %v", rows)
	}
}
