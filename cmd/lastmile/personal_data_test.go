package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// slowReader asks for a path, reads the head of the answer and then nothing more.
func (k *kit) slowReader(c apiClient, path string) {
	k.t.Helper()
	conn, err := net.DialTimeout("tcp", k.addr, patience)
	if err != nil {
		k.t.Fatal(err)
	}
	atEnd(k.t, func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, c.host, c.token)
	if err != nil {
		k.t.Fatal(err)
	}
	r := bufio.NewReaderSize(conn, 16)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
		k.t.Fatalf("a slow reader got %q, %v", line, err)
	}
}

// TestPersonalData_SlowReadersHoldNothing: there are more of them than connections for reading, and each reads the head
// of a large file and nothing more. Everybody else is served meanwhile.
func TestPersonalData_SlowReadersHoldNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DATABASE_MAX_CONNS=4").start().signIn()
	who := k.plain("+254711000931", "Slowly")
	other, _ := k.subscriber("254711000932")
	k.seen(who.subscriber, map[string]string{"phone": who.phone})
	customer := k.atPortal("acme", who.phone, 1)
	const periods = 60_000 // the buffers on the way take some megabytes
	_, err := k.db.Owner.Exec(t.Context(), `insert into `+k.db.Namespace.Schema("telemetry")+`.usage
		(org_id, subscriber_id, subscription_id, step, starts, bytes_down, bytes_up, seconds)
		select $1::uuid, $2::uuid, gen_random_uuid(), 'day', date '2026-01-01', 1000000000 + n, 1000000000 + n, 60
		from generate_series(1, $3) n`, k.org(), who.subscriber, periods)
	if err != nil {
		t.Fatal(err)
	}
	path := "/subscribers/" + who.subscriber + "/personal-data"
	for range 4 {
		k.slowReader(k.admin, path)
		k.slowReader(customer, path)
	}
	for range 3 {
		k.must(k.admin, "GET", "/subscribers/"+other, nil)
	}
	if whole := k.must(k.admin, "GET", path, nil); len(whole.list("usage")) != periods {
		t.Errorf("of %d periods of use are %d in the file", periods, len(whole.list("usage")))
	}
	k.refused(k.admin, "GET "+path, nil, http.StatusTooManyRequests, "rate_limited")
}

// TestPersonalData_IsMadeAFewTimesADay: for staff and for the customer each; beyond that the answer says when again,
// and nothing more is recorded. Another customer has a count of their own, and no file stays.
func TestPersonalData_IsMadeAFewTimesADay(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	who, other := k.plain("+254711000941", "Often"), k.plain("+254711000942", "Rarely")
	k.seen(who.subscriber, map[string]string{"phone": who.phone})
	customer := k.atPortal("acme", who.phone, 1)
	path := "/subscribers/" + who.subscriber + "/personal-data"
	for _, c := range []apiClient{k.admin, customer} {
		for range 5 {
			k.must(c, "GET", path, nil)
		}
		got := apitest.Send(t, http.DefaultClient, k.addr, apitest.Request{
			Method: http.MethodGet, Path: path, Host: c.host, As: c.token,
		})
		if got.Status != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
			t.Errorf("the sixth: %d %s", got.Status, got.Body)
		}
	}
	k.must(k.admin, "GET", "/subscribers/"+other.subscriber+"/personal-data", nil)
	k.eventually("eleven looks in the audit log", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/audit-log?action=audit.ReadPersonalData&limit=100", "", nil)
		return len(page.list("data")) == 11, err
	})
	var files int
	table := k.db.Namespace.Schema("vault") + `.files`
	err := k.db.Owner.QueryRow(t.Context(), `select count(*) from `+table).Scan(&files)
	if err != nil || files != 0 {
		t.Errorf("%d parts of files are left, %v", files, err)
	}
}

// TestPersonalData_TheCustomerReadsNoAddressThatIsNotTheirs: the phone that staff had typed first was somebody else's.
// Staff still see where the message went.
func TestPersonalData_TheCustomerReadsNoAddressThatIsNotTheirs(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	const before, now = "+254711000951", "+254711000952"
	who := k.plain(before, "Typo")
	for n, phone := range []string{before, now} {
		k.must(k.admin, "PATCH", "/subscribers/"+who.subscriber, map[string]any{"phone": phone})
		k.must(k.admin, "POST", "/payments/cash", map[string]any{
			"subscriberId": who.subscriber, "amount": 100, "reference": fmt.Sprint("till ", n),
		})
		k.eventually("the receipt to be sent", func(ctx context.Context) (bool, error) {
			page, err := k.admin.call(ctx, "GET", "/messages?state=sent&subscriberId="+who.subscriber, "", nil)
			return len(page.list("data")) == n+1, err
		})
	}
	k.seen(who.subscriber, map[string]string{"phone": now})
	customer, path := k.atPortal("acme", now, 1), "/subscribers/"+who.subscriber+"/personal-data"
	for _, c := range []struct {
		whose string
		as    apiClient
		want  []string
	}{{"staff", k.admin, []string{before, now}}, {"the customer", customer, []string{"", now}}} {
		messages := k.must(c.as, "GET", path, nil).list("messages")
		if len(messages) != len(c.want) {
			t.Fatalf("%s: %v", c.whose, messages)
		}
		for n, m := range messages {
			if m.text("address") != c.want[n] {
				t.Errorf("%s: a message to %q, want %q", c.whose, m.text("address"), c.want[n])
			}
		}
	}
}
