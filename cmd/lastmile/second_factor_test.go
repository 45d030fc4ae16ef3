package main

import (
	"context"
	"encoding/base32"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/totp"
)

// factor is the device of a person in tests.
type factor struct {
	k        *kit
	secret   []byte
	text     string
	recovery []string
}

// code is the device's present code at the program's clock.
func (f factor) code(ahead int64) string {
	return totp.Code(f.secret, totp.Step(f.k.app.clock.Now())+ahead).Reveal()
}

// enrolFactor gives a signed-in person a second factor.
func (k *kit) enrolFactor(c apiClient, password string) factor {
	k.t.Helper()
	shown := k.must(c, "POST", "/auth/second-factor/enrol", map[string]string{"currentPassword": password})
	secret, err := base32.StdEncoding.DecodeString(shown.text("secret"))
	if err != nil || !strings.Contains(shown.text("otpauthUri"), "secret="+shown.text("secret")+"&") {
		k.t.Fatalf("shown %v, %v", shown, err)
	}
	f := factor{k: k, secret: secret, text: shown.text("secret")}
	done := k.must(c, "POST", "/auth/second-factor/confirm", map[string]string{"code": f.code(0)})
	for _, code := range done["recoveryCodes"].([]any) {
		f.recovery = append(f.recovery, code.(string))
	}
	if len(f.recovery) != 10 {
		k.t.Fatalf("%d recovery codes", len(f.recovery))
	}
	return f
}

// waits signs in by a password, and gives the token that waits; there must be no other token and no cookie.
func (k *kit) waits(c apiClient, email, password string) string {
	k.t.Helper()
	out := k.must(c, "POST", "/auth/login", map[string]string{"email": email, "password": password})
	if out["requiresSecondFactor"] != true || out.text("verifiedToken") == "" || out["accessToken"] != nil ||
		out["refreshToken"] != nil || out["user"] != nil {
		k.t.Fatalf("signed in: %v", out)
	}
	return out.text("verifiedToken")
}

// TestSecondFactor_SignInNeedsBoth: by password and by code, at an organization's host and by way of the choice at the
// root host. A refresh renews what both have opened.
func TestSecondFactor_SignInNeedsBoth(t *testing.T) {
	t.Parallel()
	k := newKit(t, "RATE_LIMIT_LOGIN=1000").start().signIn()
	acme, root := k.client("acme"), k.client("")
	f := k.enrolFactor(k.admin, testPassword)
	has := k.must(k.admin, "GET", "/auth/second-factor", nil)
	if has["enrolled"] != true || has["required"] != false || has["recoveryCodesLeft"] != float64(10) {
		t.Errorf("the page shows %v", has)
	}
	proof := map[string]string{"verifiedToken": k.waits(acme, testAdminEmail, testPassword), "code": f.code(1)}
	k.refused(root, "POST /auth/second-factor", map[string]string{
		"verifiedToken": k.waits(acme, testAdminEmail, testPassword), "code": f.code(1),
	}, 401, "sign_in_expired")
	in := k.must(acme, "POST", "/auth/second-factor", proof)
	if in.at("user.role") != "admin" || in.at("org.slug") != "acme" || in.text("accessToken") == "" {
		t.Errorf("signed in: %v", in)
	}
	k.refused(acme, "POST /auth/second-factor", proof, 401, "sign_in_expired")
	k.must(acme, "POST", "/auth/refresh", map[string]string{"refreshToken": in.text("refreshToken")})
	// by a code that was sent, and a recovery code
	k.must(acme, "POST", "/auth/otp/send", map[string]string{"identifier": testAdminEmail})
	sent := k.must(acme, "POST", "/auth/otp/verify", map[string]string{
		"identifier": testAdminEmail, "code": k.codes("acme", testAdminEmail, 1),
	})
	if sent["requiresSecondFactor"] != true || sent["accessToken"] != nil || sent["user"] != nil {
		t.Fatalf("a code has signed in: %v", sent)
	}
	proof = map[string]string{"verifiedToken": sent.text("verifiedToken"), "code": strings.ToUpper(f.recovery[0])}
	if in = k.must(acme, "POST", "/auth/second-factor", proof); in.text("accessToken") == "" {
		t.Errorf("signed in: %v", in)
	}
	// by way of the choice
	k.must(root, "POST", "/auth/otp/send", map[string]string{"identifier": testAdminEmail})
	choice := k.must(root, "POST", "/auth/otp/verify", map[string]string{
		"identifier": testAdminEmail, "code": k.codes("", testAdminEmail, 2),
	})
	token := map[string]string{
		"verifiedToken": choice.text("verifiedToken"), "orgId": choice.list("organizations")[0].text("id"),
	}
	done := k.must(acme, "POST", "/auth/otp/complete", token)
	if done["requiresSecondFactor"] != true || done["accessToken"] != nil {
		t.Fatalf("the choice has signed in: %v", done)
	}
	proof = map[string]string{"verifiedToken": done.text("verifiedToken"), "code": f.recovery[0]}
	k.refused(acme, "POST /auth/second-factor", proof, 401, "wrong_second_factor") // it was used
	proof["code"] = f.recovery[1]
	k.must(acme, "POST", "/auth/second-factor", proof)
	k.auditOf("identity.EnrolSecondFactor", 1)
	k.auditOf("identity.UseRecoveryCode", 2)
}

// auditOf gives the entries of an action, once the audit log shows so many.
func (k *kit) auditOf(action string, count int) (entries []answer) {
	k.t.Helper()
	k.eventually("entries of "+action, func(context.Context) (bool, error) {
		entries = k.all(k.admin, "/audit-log?action="+action)
		return len(entries) == count, nil
	})
	return entries
}

// TestSecondFactor_RequiredStaffMayDoNothingButEnrol: also in sessions that are open when the setting is changed.
func TestSecondFactor_RequiredStaffMayDoNothingButEnrol(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	key := k.must(k.admin, "POST", "/api-keys", map[string]string{"name": "Books", "role": "admin"})
	k.must(k.admin, "GET", "/plans", nil)
	set := k.must(k.admin, "PUT", "/settings/organization", map[string]any{"requireSecondFactor": true})
	if set["requireSecondFactor"] != true {
		t.Errorf("settings %v", set)
	}
	k.refused(k.admin, "GET /plans", nil, 403, "second_factor_required")
	k.refused(k.admin, "PUT /settings/organization", map[string]any{"requireSecondFactor": false}, 403,
		"second_factor_required")
	again, _ := k.login("acme", testAdminEmail, testPassword)
	k.refused(again, "GET /plans", nil, 403, "second_factor_required")
	if me := k.must(again, "GET", "/auth/me", nil); me["mustEnrolSecondFactor"] != true {
		t.Errorf("me %v", me)
	}
	k.must(k.withKey(key), "GET", "/plans", nil) // a key is no person
	k.refused(k.withKey(key), "PUT /settings/organization", map[string]any{"requireSecondFactor": false}, 403,
		"api_key_not_allowed")
	k.enrolFactor(again, testPassword)
	k.must(again, "GET", "/plans", nil)
	if me := k.must(again, "GET", "/auth/me", nil); me["mustEnrolSecondFactor"] != false {
		t.Errorf("me %v", me)
	}
	k.must(k.root, "GET", "/orgs", nil) // the platform has a setting of its own
}

// TestSecondFactor_ThePlatformMayRequireOneToo: of its administrators, at every host.
func TestSecondFactor_ThePlatformMayRequireOneToo(t *testing.T) {
	t.Parallel()
	k := newKit(t, "PLATFORM_REQUIRE_SECOND_FACTOR=true").start()
	k.command("admin", "create", "--email", testRootEmail, "--password", testPassword)
	root, _ := k.login("", testRootEmail, testPassword)
	k.refused(root, "GET /orgs", nil, 403, "second_factor_required")
	k.enrolFactor(root, testPassword)
	k.must(root, "GET", "/orgs", nil)
}

// TestSecondFactor_AnAdministratorTakesALostOneOff: with a reason that the audit log shows; the sessions end.
func TestSecondFactor_AnAdministratorTakesALostOneOff(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	made := k.must(k.admin, "POST", "/users", map[string]string{
		"email": "sue@acme.test", "firstName": "Sue", "role": "support", "temporaryPassword": "for the first day",
	})
	sue, _ := k.login("acme", "sue@acme.test", "for the first day")
	k.must(sue, "POST", "/auth/password", map[string]string{
		"currentPassword": "for the first day", "newPassword": "blue giraffes dance",
	})
	k.enrolFactor(sue, "blue giraffes dance")
	path := "/users/" + made.text("id")
	k.eventually("the second factor in the list", func(ctx context.Context) (bool, error) {
		row, err := k.admin.call(ctx, http.MethodGet, path, "", nil)
		return row["secondFactor"] == true, err
	})
	k.refused(k.admin, "POST "+path+"/second-factor/remove", map[string]string{"reason": " "}, 422, "invalid_input")
	k.refused(sue, "POST "+path+"/second-factor/remove", map[string]string{"reason": "x"}, 403, "role_required")
	row := k.must(k.admin, "POST", path+"/second-factor/remove", map[string]string{"reason": "her phone was stolen"})
	if row["secondFactor"] != false {
		t.Errorf("the list shows %v", row)
	}
	k.refused(sue, "GET /auth/me", nil, 401, "unauthenticated")
	k.login("acme", "sue@acme.test", "blue giraffes dance")
	entries := k.auditOf("identity.RemoveLostSecondFactor", 1)
	if len(entries) != 1 || entries[0].at("detail.reason") != "her phone was stolen" {
		t.Errorf("the audit log has %v", entries)
	}
}

// TestSecondFactor_ItsSecretIsNowhere: neither in the log, nor in an event, a table, or an answer that stays.
func TestSecondFactor_ItsSecretIsNowhere(t *testing.T) {
	t.Parallel()
	k := newKit(t, "RATE_LIMIT_LOGIN=1000").start().signIn()
	f := k.enrolFactor(k.admin, testPassword)
	token := k.waits(k.client("acme"), testAdminEmail, testPassword)
	k.must(k.client("acme"), "POST", "/auth/second-factor", map[string]string{
		"verifiedToken": token, "code": f.recovery[0],
	})
	k.settled()
	hidden := []string{f.text, token, hex.EncodeToString(f.secret), string(f.secret)}
	for _, code := range f.recovery {
		hidden = append(hidden, code, strings.ReplaceAll(code, "-", ""))
	}
	for _, needle := range hidden {
		if strings.Contains(k.log.String(), needle) {
			t.Error("the log has a secret of the second factor")
		}
	}
	if shown := k.shownIn(hidden, nil); len(shown) != 0 {
		t.Errorf("%d secrets are shown", len(shown))
	}
}

// TestAdmin_RemovesTheSecondFactorOfThePlatform: whoever runs the program helps its administrators.
func TestAdmin_RemovesTheSecondFactorOfThePlatform(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.enrolFactor(k.root, testPassword)
	out := k.command("admin", "remove-second-factor", "--email", strings.ToUpper(testRootEmail), "--reason", "lost")
	if !strings.Contains(out, testRootEmail) {
		t.Errorf("it says %s", out)
	}
	k.eventually("the next sign-in without a code", func(ctx context.Context) (bool, error) {
		in, err := k.client("").call(ctx, http.MethodPost, "/auth/login", "", map[string]string{
			"email": testRootEmail, "password": testPassword,
		})
		return in.text("accessToken") != "", err
	})
	k.refused(k.client(""), "POST /auth/refresh", map[string]string{"refreshToken": "x"}, 401, "refresh_token_invalid")
}

// TestContacts_BySentCodesOverHTTP: the answers are the same for every address, and the sign-in goes on with the new
// one.
func TestContacts_BySentCodesOverHTTP(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	other, _ := k.login("acme", testAdminEmail, testPassword)
	free := k.must(k.admin, "POST", "/auth/contacts", map[string]string{"email": "new-admin@acme.test"})
	k.refused(k.admin, "POST /auth/contacts", map[string]string{}, 422, "invalid_input")
	k.refused(k.admin, "POST /auth/contacts", map[string]string{"email": "a@b.test", "phone": "0722000111"}, 422,
		"invalid_input")
	k.must(k.admin, "POST", "/auth/contacts/confirm", map[string]string{
		"oldCode": k.codes("acme", testAdminEmail, 1), "newCode": k.codes("acme", "new-admin@acme.test", 1),
	})
	k.refused(other, "GET /auth/me", nil, 401, "unauthenticated")
	if me := k.must(k.admin, "GET", "/auth/me", nil); me.text("email") != "new-admin@acme.test" {
		t.Errorf("me %v", me)
	}
	k.login("acme", "new-admin@acme.test", testPassword)
	k.refused(k.client("acme"), "POST /auth/login", map[string]string{
		"email": testAdminEmail, "password": testPassword,
	}, 401, "wrong_credentials")
	taken := k.must(k.admin, "POST", "/auth/contacts", map[string]string{"email": testRootEmail})
	if free.text("message") != taken.text("message") {
		t.Error("the answers differ")
	}
}
