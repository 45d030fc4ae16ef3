package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// apiKey makes a key of acme and gives the answer with a client that has it. more replaces fields of the body.
func (k *kit) apiKey(more map[string]any) (answer, apiClient) {
	k.t.Helper()
	body := map[string]any{"name": "Books", "role": "admin"}
	for field, value := range more {
		body[field] = value
	}
	made := k.must(k.admin, "POST", "/api-keys", body)
	return made, k.withKey(made)
}

// withKey is a client at acme with the key that an answer tells.
func (k *kit) withKey(told answer) apiClient {
	c := k.client("acme")
	c.token = told.text("key")
	return c
}

// TestAPIKeys_StoryOfOneKey: it is issued, reads and writes by its scopes, is replaced with and without an overlap, is
// revoked, and all of it is in the audit log.
func TestAPIKeys_StoryOfOneKey(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	movable := clock.NewMovable(clock.System(), 0)
	k.clock = movable
	k.start().signIn()
	made, books := k.apiKey(map[string]any{
		"scopes": []string{"subscribers:write", "plans:read"}, "expiresAt": movable.Now().Add(72 * time.Hour),
	})
	key := "/api-keys/" + made.text("id")
	if list := k.must(k.admin, "GET", "/api-keys", nil).list("data"); len(list) != 1 || list[0]["key"] != nil ||
		list[0].text("prefix") != made.text("prefix") || list[0]["lastUsedAt"] != nil {
		t.Errorf("listed as %v", list)
	}
	subscriber := k.must(books, "POST", "/subscribers", map[string]any{
		"firstName": "Amina", "phone": "+254711000001",
	}).text("id")
	k.must(books, "GET", "/subscribers/"+subscriber, nil)
	k.must(books, "GET", "/plans", nil)
	k.refused(books, "POST /plans", map[string]any{}, 403, "scope_required")
	k.refused(books, "GET /invoices", nil, 403, "scope_required")
	k.refused(books, "POST /api-keys", map[string]any{}, 403, "api_key_not_allowed")
	k.refused(k.client("acme"), "GET /subscribers", nil, 401, "unauthenticated")
	if used := k.must(k.admin, "GET", key, nil); used.text("lastUsedAt") == "" || used.text("lastUsedFrom") == "" ||
		used.text("state") != "active" {
		t.Errorf("after its use it is %v", used)
	}

	next := k.withKey(k.must(k.admin, "POST", key+"/rotate", map[string]string{"overlap": "1h"}))
	k.must(books, "GET", "/plans", nil)
	k.must(next, "GET", "/plans", nil)
	movable.Advance(time.Hour)
	k.refused(books, "GET /plans", nil, 401, "api_key_revoked")
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	last := k.withKey(k.must(k.admin, "POST", key+"/rotate", map[string]string{}))
	k.refused(next, "GET /plans", nil, 401, "api_key_revoked")
	k.must(last, "GET", "/plans", nil)
	k.must(k.admin, "DELETE", key, nil)
	k.refused(last, "GET /plans", nil, 401, "api_key_revoked")
	k.auditedKey(made.text("id"), subscriber)
}

// auditedKey wants the audit log to have what was done with a key and to it.
func (k *kit) auditedKey(key, subscriber string) {
	k.t.Helper()
	missing := map[string]int{
		"subscribers.RegisterSubscriber succeeded": 1, "POST /plans scope_required": 1,
		"POST /api-keys api_key_not_allowed": 1, "GET /plans api_key_revoked": 3,
	}
	k.eventually("what the key did to be in the audit log", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/audit-log?limit=100&actor="+key, "", nil)
		got := map[string]int{}
		for _, entry := range page.list("data") {
			actor, _ := entry["actor"].(map[string]any)
			detail, _ := entry["detail"].(map[string]any)
			code, _ := detail["code"].(string)
			if code == "" {
				code = entry.text("outcome")
			}
			got[entry.text("action")+" "+code]++
			if actor["kind"] != "api_key" || actor["role"] != "admin" || actor["name"] != "Books" {
				k.t.Fatalf("the actor is %v", actor)
			}
		}
		for what, times := range missing {
			if got[what] != times {
				return false, err
			}
		}
		return err == nil, err
	})
	var actions []string
	for _, entry := range k.all(k.admin, "/audit-log?target=apikey:"+key) {
		actions = append([]string{entry.text("action")}, actions...)
		if target, _ := entry["target"].(map[string]any); target["name"] != "Books" {
			k.t.Errorf("the target is %v", target)
		}
	}
	if got := strings.Join(actions, " "); got !=
		"identity.IssueAPIKey identity.RotateAPIKey identity.RotateAPIKey identity.RevokeAPIKey" {
		k.t.Errorf("what was done to the key is %s", got)
	}
	maker, _ := k.must(k.admin, "GET", "/api-keys/"+key, nil)["createdBy"].(map[string]any)
	me := k.must(k.admin, "GET", "/auth/me", nil)
	if maker["id"] != me["id"] || maker["name"] == nil {
		k.t.Errorf("the key was made by %v, who is %v", maker, me)
	}
	k.eventually("the customer's history with the key's name", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/subscribers/"+subscriber+"/timeline", "", nil)
		for _, entry := range page.list("data") {
			if actor, _ := entry["actor"].(map[string]any); actor["kind"] == "api_key" && actor["name"] != "Books" {
				k.t.Fatalf("the actor is %v", actor)
			}
		}
		return len(page.list("data")) > 0, err
	})
}

// TestAPIKeys_BehindATrustedProxy: the address is that of the client, as the proxy tells it, and of nobody else.
func TestAPIKeys_BehindATrustedProxy(t *testing.T) {
	t.Parallel()
	k := newKit(t, "TRUSTED_PROXIES=127.0.0.1/32").start().signIn()
	_, office := k.apiKey(map[string]any{"allowedAddresses": []string{"192.0.2.0/24", "2001:db8::/32"}})
	from := func(forwarded string, status int, code string) {
		t.Helper()
		r := apitest.Request{Path: "/plans", Host: office.host, As: office.token, Header: map[string]string{}}
		if forwarded != "" {
			r.Header["X-Forwarded-For"] = forwarded
		}
		a := apitest.Send(t, http.DefaultClient, k.addr, r)
		if a.Status != status || status >= 400 && a.Code() != code {
			t.Errorf("from %q: %d %s", forwarded, a.Status, a.Body)
		}
	}
	from("192.0.2.9", 200, "")
	from("2001:db8::9", 200, "")
	from("::ffff:192.0.2.9", 200, "")
	from("", 403, "api_key_address_refused")
	from("198.51.100.1", 403, "api_key_address_refused")
	from("192.0.2.9, 198.51.100.1", 403, "api_key_address_refused") // the client itself has written the first
	from("not an address", 403, "api_key_address_refused")
}

// TestAPIKeys_RevokedAtOneProgramOpensNothingAtAnother: two programs answer. A key that one makes opens both, and one
// that it revokes opens neither, though the other one has used it a moment ago.
func TestAPIKeys_RevokedAtOneProgramOpensNothingAtAnother(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	node := freePort(t)
	k.eventStoreAlone(node)
	k.environ = append(k.environ, "PLATFORM_ENCRYPTION_KEY="+strings.Repeat("QUJD", 10)+"QUI=",
		"EVENTSTORE_URL=esdb://"+node+"?tls=false")
	first := k.startBeside(roles{roleAPI, roleProjections, roleProcesses, roleJobs}, "DATA_DIR="+t.TempDir())
	second := k.startBeside(roles{roleAPI}, "DATA_DIR="+t.TempDir())
	k.app, k.addr = first, first.Addr()
	k.signIn()
	made, here := k.apiKey(nil)
	there := here
	there.addr = second.Addr()
	k.eventually("the key to open the second program", func(ctx context.Context) (bool, error) {
		_, err := there.call(ctx, "GET", "/plans", "", nil)
		no := asAPIError(err)
		return err == nil, unless(no, 401, err)
	})
	k.must(here, "GET", "/plans", nil)
	k.must(k.admin, "DELETE", "/api-keys/"+made.text("id"), nil)
	k.refused(here, "GET /plans", nil, 401, "api_key_revoked")
	began := time.Now()
	k.eventually("the second program to refuse it", func(ctx context.Context) (bool, error) {
		_, err := there.call(ctx, "GET", "/plans", "", nil)
		return asAPIError(err) != nil && asAPIError(err).Code == "api_key_revoked", nil
	})
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("that took %s", took)
	}
}

// unless gives no error for an answer with a status that is awaited.
func unless(no *apiError, status int, err error) error {
	if no != nil && no.Status == status {
		return nil
	}
	return err
}

// TestAPIKeys_HaveALimitOfTheirOwn: that of a person, which its maker does not share.
func TestAPIKeys_HaveALimitOfTheirOwn(t *testing.T) {
	t.Parallel()
	k := newKit(t, "RATE_LIMIT_USER=20").start().signIn()
	made, first := k.apiKey(nil)
	_, other := k.apiKey(nil)
	for range 20 {
		k.must(first, "GET", "/plans", nil)
	}
	k.refused(first, "GET /plans", nil, 429, "rate_limited")
	k.must(other, "GET", "/plans", nil)
	next := k.withKey(k.must(k.admin, "POST", "/api-keys/"+made.text("id")+"/rotate", map[string]string{}))
	k.refused(next, "GET /plans", nil, 429, "rate_limited")
	for range 20 { // a key that may not enter is counted, too
		k.refused(first, "GET /plans", nil, 429, "rate_limited")
	}
}

// TestAPIKeys_AStreamEndsWithItsKey: what may be read is told until then.
func TestAPIKeys_AStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	made, books := k.apiKey(map[string]any{"scopes": []string{"events:read"}})
	s := k.stream(books)
	subscriber, _ := k.subscriber("254711000009")
	s.until("subscribers", subscriber)
	k.must(k.admin, "DELETE", "/api-keys/"+made.text("id"), nil)
	for one := s.next(); one != (change{}); one = s.next() {
		_ = one
	}
}
