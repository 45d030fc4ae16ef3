package main

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
)

// sixDigits finds a code in a message.
var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// codes waits until so many codes were sent to an address from a host, and gives the newest.
func (k *kit) codes(host, to string, count int) (code string) {
	k.t.Helper()
	c := k.client(host)
	k.eventually("codes to "+to, func(ctx context.Context) (bool, error) {
		r, err := c.call(ctx, http.MethodGet, "/dev/messages?to="+to, "", nil)
		sent := 0
		for _, m := range r.list("data") { // the newest first
			if !events.MessageTemplate(m.text("template")).HasCode() {
				continue
			}
			if sent++; sent == 1 {
				code = sixDigits.FindString(m.text("text"))
			}
		}
		return sent == count && code != "", err
	})
	return code
}

// TestCodes_SignInByACodeThatWasSent: at the host of an organization, at once; at the root host by way of the choice of
// one. A code opens nothing a second time.
func TestCodes_SignInByACodeThatWasSent(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	acme, root := k.client("acme"), k.client("")
	ask := func(c apiClient, who string) answer {
		t.Helper()
		return k.must(c, "POST", "/auth/otp/send", map[string]string{"identifier": who})
	}
	known, unknown := ask(acme, strings.ToUpper(testAdminEmail)), ask(acme, "nobody@acme.test")
	if known.text("message") == "" || known.text("message") != unknown.text("message") {
		t.Errorf("the answers differ: %v, %v", known, unknown)
	}
	code := k.codes("acme", testAdminEmail, 1)
	proof := map[string]string{"identifier": testAdminEmail, "code": code}
	k.refused(k.client("other-host"), "POST /auth/otp/verify", proof, 404, "not_found")
	k.refused(root, "POST /auth/otp/verify", proof, 401, "wrong_code")
	in := k.must(acme, "POST", "/auth/otp/verify", proof)
	if in.at("user.role") != "admin" || in.at("org.slug") != "acme" || in.text("accessToken") == "" {
		t.Errorf("signed in: %v", in)
	}
	k.refused(acme, "POST /auth/otp/verify", proof, 401, "wrong_code")
	k.refused(acme, "POST /auth/otp/verify", map[string]string{"identifier": "nobody@acme.test", "code": code}, 401,
		"wrong_code")
	k.refused(acme, "POST /auth/otp/send", map[string]string{"identifier": "amina"}, 422, "invalid_input")

	ask(root, testAdminEmail)
	proof["code"] = k.codes("", testAdminEmail, 2)
	choice := k.must(root, "POST", "/auth/otp/verify", proof)
	chosen := choice.list("organizations")
	if choice["requiresOrgSelection"] != true || choice["accessToken"] != nil || len(chosen) != 1 ||
		chosen[0].text("slug") != "acme" || chosen[0].text("role") != "admin" {
		t.Fatalf("choice %v", choice)
	}
	if user, _ := choice["user"].(map[string]any); len(user) != 3 || user["id"] == nil || user["firstName"] == nil ||
		user["lastName"] == nil {
		t.Errorf("before an organization is chosen the answer shows %v", user)
	}
	token := map[string]string{"verifiedToken": choice.text("verifiedToken"), "orgId": chosen[0].text("id")}
	done := k.must(acme, "POST", "/auth/otp/complete", token)
	if done.at("user.role") != "admin" || done.text("accessToken") == "" {
		t.Errorf("signed in: %v", done)
	}
	k.refused(acme, "POST /auth/otp/complete", token, 401, "verified_token_invalid")

	ask(root, testRootEmail)
	in = k.must(root, "POST", "/auth/otp/verify", map[string]string{
		"identifier": testRootEmail, "code": k.codes("", testRootEmail, 1),
	})
	if in.at("user.role") != "super_admin" || in.text("accessToken") == "" {
		t.Errorf("the platform's administrator: %v", in)
	}
}

// TestCodes_BeyondTheLimitsThereIsSilence: five codes an hour are sent to an address, and ten tries count, from
// whatever host.
func TestCodes_BeyondTheLimitsThereIsSilence(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true", "RATE_LIMIT_LOGIN=1000").start().signIn()
	acme := k.client("acme")
	ask := func() {
		t.Helper()
		k.must(acme, "POST", "/auth/otp/send", map[string]string{"identifier": testAdminEmail})
	}
	proof := map[string]string{"identifier": testAdminEmail}
	for sent := 1; sent <= 5; sent++ {
		ask()
		code := k.codes("acme", testAdminEmail, sent)
		proof["code"] = "000000"
		if code == "000000" {
			proof["code"] = "000001"
		}
		for range 2 {
			k.refused(acme, "POST /auth/otp/verify", proof, 401, "wrong_code")
		}
		proof["code"] = code
	}
	k.refused(acme, "POST /auth/otp/verify", proof, 401, "wrong_code") // the eleventh try, with the right code
	ask()
	k.advance(map[string]any{"advance": "2h"})
	ask()
	proof["code"] = k.codes("acme", testAdminEmail, 6) // the one before was never sent
	k.must(acme, "POST", "/auth/otp/verify", proof)
}

// TestCodes_ResetThePassword: all sessions end, and the new password is the only one.
func TestCodes_ResetThePassword(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	acme := k.client("acme")
	k.must(acme, "POST", "/auth/otp/send", map[string]string{"identifier": testAdminEmail})
	reset := map[string]string{
		"identifier": testAdminEmail, "code": k.codes("acme", testAdminEmail, 1), "newPassword": "short",
	}
	k.refused(acme, "POST /auth/password/reset", reset, 422, "invalid_input")
	reset["newPassword"] = "blue giraffes dance"
	k.must(acme, "POST", "/auth/password/reset", reset)
	k.refused(acme, "POST /auth/password/reset", reset, 401, "wrong_code")
	k.refused(k.admin, "GET /auth/me", nil, 401, "unauthenticated")
	k.refused(acme, "POST /auth/login", map[string]string{"email": testAdminEmail, "password": testPassword}, 401,
		"wrong_credentials")
	in := k.must(acme, "POST", "/auth/login", map[string]string{
		"email": testAdminEmail, "password": "blue giraffes dance",
	})
	if in["mustChangePassword"] != false {
		t.Errorf("signed in: %v", in)
	}
}

// TestCodes_AreWrittenInTheWordsOfTheOrganization: in the language of a customer, else in that of the organization; at
// the root host in ours. A text that leaves the code out is refused.
func TestCodes_AreWrittenInTheWordsOfTheOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	text := func(sms string) map[string]any {
		return map[string]any{"sign_in_code": map[string]any{
			"sms": sms, "email": map[string]string{"subject": "Welcome to {org}", "text": "Type {otp} at {host}."},
		}}
	}
	for _, sms := range []string{"", "Your code is secret", "Your code is {code}"} {
		k.refused(k.admin, "PUT /settings/messages", map[string]any{"templates": text(sms)}, 422, "invalid_input")
	}
	k.must(k.admin, "PUT", "/settings/messages", map[string]any{
		"templates": text("Karibu, {otp} opens {org}"), "translations": map[string]any{"sw": text("Fungua kwa {otp}")},
	})
	newest := func(host, to string) answer {
		t.Helper()
		k.must(k.client(host), "POST", "/auth/otp/send", map[string]string{"identifier": to})
		k.codes(host, to, 1)
		return k.must(k.client(host), "GET", "/dev/messages?to="+to, nil).list("data")[0]
	}
	m := newest("acme", testAdminEmail)
	if m.text("subject") != "Welcome to acme" ||
		!strings.HasSuffix(m.text("text"), " at acme.lastmile.test.") {
		t.Errorf("staff got %v", m)
	}
	customer, _ := k.subscriber("254711000571")
	k.must(k.admin, "PATCH", "/subscribers/"+customer, map[string]string{"language": "sw"})
	k.seen(customer, map[string]string{})
	k.must(k.admin, "POST", "/subscribers/"+customer+"/portal-access", map[string]string{"phone": "0711000571"})
	m = newest("acme", "+254711000571")
	code := sixDigits.FindString(m.text("text"))
	if want := "Fungua kwa " + code + "\n\n@acme.lastmile.test #" + code; m.text("text") != want {
		t.Errorf("a customer got %q, want %q", m.text("text"), want)
	}
	if m = newest("", testRootEmail); m.text("subject") != "Lastmile: your code" {
		t.Errorf("the platform's administrator got %v", m)
	}
}

// TestCodes_AreSentInTheTurnOfTheirOrganization: a burst of them at one host delays no other, and the turn of an
// unknown address is the same as that of a known one.
func TestCodes_AreSentInTheTurnOfTheirOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	acme, org := k.client("acme"), k.org()
	for _, who := range []string{testAdminEmail, "nobody@acme.test"} {
		k.must(acme, "POST", "/auth/otp/send", map[string]string{"identifier": who})
	}
	k.must(k.client(""), "POST", "/auth/otp/send", map[string]string{"identifier": "nobody@else.test"})
	rows, err := k.db.Owner.Query(t.Context(), `select coalesce(metadata #>> '{cause,orgId}', '') from `+
		k.db.Namespace.Schema("river")+`.river_job where kind = 'identity_send_code' order by id`)
	if err != nil {
		t.Fatal(err)
	}
	turns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(turns) != 3 || !slices.Equal(turns[:2], []string{org, org}) || turns[2] == org {
		t.Errorf("turns of %v, %v; acme is %s", turns, err, org)
	}
}
