package httpapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestLogin_AnswersAsSpecifiedAndSetsBothCookies(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	a := k.login(t, apitest.Acme, "  Ada@ACME.test ", rightPassword)
	var in signedIn
	a.Into(t, &in)
	if a.Status != 200 || in.User.Email != adminEmail || in.User.Role != "admin" || in.Org == nil ||
		in.Org.Slug != "acme" || in.MustChangePassword {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	set := cookies(a)
	for name, want := range map[string]struct {
		value string
		age   int
	}{httpapi.CookieAccess: {in.AccessToken, 15 * 60}, httpapi.CookieRefresh: {in.RefreshToken, 7 * 24 * 3600}} {
		c := set[name]
		if c == nil || c.Value != want.value || c.MaxAge != want.age || !c.HttpOnly || c.Secure ||
			c.SameSite != http.SameSiteLaxMode ||
			c.Path != "/" || c.Domain != apitest.Domain {
			t.Errorf("cookie %s: %+v", name, c)
		}
	}
	var me struct {
		ID, Email, Role, Status string
		Phone                   *string
		Org                     struct{ ID, Slug, Name string }
	}
	k.want(t, 200, "", apitest.Request{Path: "/auth/me", Cookie: in.AccessToken}).Into(t, &me)
	if me.ID != in.User.ID || me.Email != adminEmail || me.Role != "admin" || me.Status != "active" ||
		me.Org.Name != "The acme" || me.Phone != nil {
		t.Errorf("me: %+v", me)
	}
}

func TestLogin_HostRules(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	var root signedIn
	k.login(t, apitest.Domain, rootEmail, rightPassword).Into(t, &root)
	if root.User.Role != "super_admin" || root.Org != nil {
		t.Errorf("root: %+v", root)
	}
	for _, c := range []struct {
		host, email, password string
		status                int
		code                  string
	}{
		{apitest.Domain, adminEmail, rightPassword, 403, "super_admin_only"},
		{apitest.Domain, adminEmail, "wrong", 401, "wrong_credentials"},
		{apitest.Acme, rootEmail, rightPassword, 401, "wrong_credentials"},
		{apitest.Acme, olgaEmail, rightPassword, 401, "wrong_credentials"},
		{apitest.Acme, adminEmail, "wrong", 401, "wrong_credentials"},
		{apitest.Acme, "nobody@acme.test", rightPassword, 401, "wrong_credentials"},
		{apitest.Unknown, adminEmail, rightPassword, 404, "not_found"},
		{"elsewhere.example", adminEmail, rightPassword, 404, "not_found"},
	} {
		if a := k.login(t, c.host, c.email, c.password); a.Status != c.status || a.Code() != c.code {
			t.Errorf("%s at %s: %d %s", c.email, c.host, a.Status, a.Body)
		}
	}
}

func TestLogin_WrongUnknownAndStrangerAreTheSame(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	var first []byte
	for try := 1; try <= 6; try++ { // the sixth is locked, for all of them
		for _, who := range []string{adminEmail, "nobody@acme.test", olgaEmail} {
			password := "wrong"
			if who == olgaEmail {
				password = rightPassword // no member here
			}
			a := k.login(t, apitest.Acme, who, password)
			want := "wrong_credentials"
			if try == 6 {
				want = "account_locked"
			}
			if a.Status != 401 || a.Code() != want || len(cookies(a)) != 0 {
				t.Fatalf("try %d of %s: %d %s", try, who, a.Status, a.Body)
			}
			if try == 1 && first == nil {
				first = a.Body
			}
			if try < 6 && !bytes.Equal(a.Body, first) {
				t.Errorf("%s: %s, others %s", who, a.Body, first)
			}
		}
	}
}

func TestLogin_LockEndsAndARightPasswordResetsTheCounter(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	for range 4 {
		k.login(t, apitest.Acme, adminEmail, "wrong")
	}
	k.signIn(t, apitest.Acme, adminEmail) // resets
	for range 5 {
		k.login(t, apitest.Acme, adminEmail, "wrong")
	}
	if a := k.login(t, apitest.Acme, adminEmail, rightPassword); a.Status != 401 || a.Code() != "account_locked" ||
		!bytes.Contains(a.Body, []byte("temporarily locked")) {
		t.Errorf("locked: %d %s", a.Status, a.Body)
	}
	if a := k.login(t, apitest.Domain, adminEmail, rightPassword); a.Code() != "account_locked" {
		t.Errorf("locked at every host: %d %s", a.Status, a.Body)
	}
	k.clock.Advance(15*time.Minute + time.Second)
	k.signIn(t, apitest.Acme, adminEmail)
	for range 6 { // a right password at the wrong door is no guess
		if a := k.login(t, apitest.Domain, adminEmail, rightPassword); a.Code() != "super_admin_only" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
}

func TestLogin_MalformedBodies(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	for body, want := range map[string]int{
		``: 400, `{`: 400, `[]`: 400, `{"email":"a@b.c"}`: 400, `{"email":"a@b.c","password":"x"} x`: 400,
		`{"email":1,"password":"x"}`: 422, `{"email":"a@b.c","password":"x","admin":true}`: 422,
		`{"email":"a@b.c","password":""}`: 422, `{"email":null,"password":"x"}`: 400,
	} {
		if a := k.Do(t, post("", "/auth/login", body)); a.Status != want {
			t.Errorf("%s: %d %s, want %d", body, a.Status, a.Body, want)
		}
	}
}

func TestRefresh_RotatesAndReuseRevokesBoth(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.signIn(t, apitest.Acme, adminEmail)
	k.clock.Advance(16 * time.Minute)
	k.want(t, 401, "unauthenticated", get(in.AccessToken, "/auth/me"))
	var next struct{ Message, AccessToken, RefreshToken string }
	a := k.want(t, 200, "", apitest.Request{
		Method: "POST", Path: "/auth/refresh", Header: map[string]string{
			"Cookie": httpapi.CookieRefresh + "=" + in.RefreshToken,
		},
	})
	a.Into(t, &next)
	if next.Message == "" || next.RefreshToken == in.RefreshToken ||
		cookies(a)[httpapi.CookieRefresh].Value != next.RefreshToken {
		t.Fatalf("%s", a.Body)
	}
	k.want(t, 200, "", get(next.AccessToken, "/auth/me"))
	reuse := k.want(t, 401, "refresh_token_reused", post("", "/auth/refresh", map[string]string{
		"refreshToken": in.RefreshToken,
	}))
	if c := cookies(reuse)[httpapi.CookieRefresh]; c == nil || c.MaxAge >= 0 {
		t.Errorf("cookie stays: %+v", c)
	}
	k.want(t, 401, "refresh_token_invalid", post("", "/auth/refresh", map[string]string{
		"refreshToken": next.RefreshToken,
	}))
	k.want(t, 401, "unauthenticated", get(next.AccessToken, "/auth/me")) // at once, not after 15 minutes
}

func TestRefresh_OnlyAtItsHostAndWithinItsTime(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.signIn(t, apitest.Acme, adminEmail)
	body := map[string]string{"refreshToken": in.RefreshToken}
	for _, host := range []string{apitest.Other, apitest.Domain} {
		k.want(t, 401, "unauthenticated", at(host, post("", "/auth/refresh", body)))
	}
	k.want(t, 401, "unauthenticated", post("", "/auth/refresh", nil))
	k.want(t, 401, "refresh_token_invalid", post("", "/auth/refresh", map[string]string{"refreshToken": "guess"}))
	k.clock.Advance(7*24*time.Hour + time.Second)
	k.want(t, 401, "refresh_token_invalid", post("", "/auth/refresh", body))
}

func TestLogout_EndsTheSessionAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in, second := k.signIn(t, apitest.Acme, adminEmail), k.signIn(t, apitest.Acme, adminEmail)
	a := k.want(t, 200, "", post(in.AccessToken, "/auth/logout", nil))
	if c := cookies(a); c[httpapi.CookieAccess].MaxAge >= 0 || c[httpapi.CookieRefresh].MaxAge >= 0 {
		t.Errorf("cookies stay: %v", a.Header)
	}
	k.want(t, 401, "unauthenticated", get(in.AccessToken, "/auth/me"))
	k.want(t, 401, "refresh_token_invalid", post("", "/auth/refresh", map[string]string{
		"refreshToken": in.RefreshToken,
	}))
	k.want(t, 200, "", get(second.AccessToken, "/auth/me"))
	k.want(t, 401, "unauthenticated", post("", "/auth/logout", nil))
}

func TestPassword_ChangeEndsEveryOtherSession(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in, second := k.signIn(t, apitest.Acme, adminEmail), k.signIn(t, apitest.Acme, adminEmail)
	change := func(current, next string) apitest.Request {
		return post(in.AccessToken, "/auth/password", map[string]string{
			"currentPassword": current, "newPassword": next,
		})
	}
	k.want(t, 422, "wrong_password", change("wrong one", "another good one"))
	k.want(t, 422, "invalid_input", change(rightPassword, "short"))
	k.want(t, 422, "invalid_input", change(rightPassword, rightPassword))
	k.want(t, 200, "", change(rightPassword, "another good one"))
	k.want(t, 200, "", get(in.AccessToken, "/auth/me"))
	k.want(t, 401, "unauthenticated", get(second.AccessToken, "/auth/me"))
	k.want(t, 401, "refresh_token_invalid", post("", "/auth/refresh", map[string]string{
		"refreshToken": second.RefreshToken,
	}))
	if a := k.login(t, apitest.Acme, adminEmail, rightPassword); a.Status != 401 {
		t.Errorf("old password: %d", a.Status)
	}
	if a := k.login(t, apitest.Acme, adminEmail, "another good one"); a.Status != 200 {
		t.Errorf("new password: %d %s", a.Status, a.Body)
	}
	for range 5 {
		k.Do(t, change("a guess", "yet another one"))
	}
	k.want(t, 401, "account_locked", change("another good one", "yet another one")) // a stolen session is no oracle
}

func TestSessions_ListAndEnd(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.signIn(t, apitest.Acme, adminEmail)
	for range 3 {
		k.clock.Advance(time.Second)
		k.signIn(t, apitest.Acme, adminEmail)
	}
	olga := k.signIn(t, apitest.Other, olgaEmail)
	type page struct {
		Data []struct {
			ID      string
			Current bool
		}
		NextCursor *string
	}
	var seen []string
	var current, other string
	for cursor := ""; ; {
		var p page
		k.want(t, 200, "", get(in.AccessToken, "/auth/sessions?limit=2"+cursor)).Into(t, &p)
		for _, s := range p.Data {
			seen = append(seen, s.ID)
			if s.Current {
				current = s.ID
			} else {
				other = s.ID
			}
		}
		if p.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *p.NextCursor
	}
	if len(seen) != 4 || current != seen[3] {
		t.Fatalf("sessions %v, current %s", seen, current)
	}
	end := func(as, session string) apitest.Request {
		return apitest.Request{Method: "DELETE", Path: "/auth/sessions/" + session, As: as}
	}
	k.want(t, 404, "session_not_found", at(apitest.Other, end(olga.AccessToken, other))) // somebody else's
	k.want(t, 404, "session_not_found", end(in.AccessToken, "no-id"))
	k.want(t, 204, "", end(in.AccessToken, other))
	k.want(t, 404, "session_not_found", end(in.AccessToken, other))
	if a := k.want(t, 204, "", end(in.AccessToken, current)); cookies(a)[httpapi.CookieAccess] == nil {
		t.Error("cookies stay")
	}
	k.want(t, 401, "unauthenticated", get(in.AccessToken, "/auth/me"))
}

// forged makes a token; edit changes what a good one says.
func (k *ispKit) forged(t *testing.T, method jwt.SigningMethod, key any, edit func(jwt.MapClaims)) string {
	t.Helper()
	now := k.clock.Now()
	c := jwt.MapClaims{
		"sub": k.users[adminEmail].String(), "role": "admin", "orgId": k.acme.String(),
		"sid": id.New[id.Session]().String(), "iss": "lastmile", "aud": []string{"lastmile-api"}, "iat": now.Unix(),
		"exp": now.Add(time.Minute).Unix(),
	}
	if edit != nil {
		edit(c)
	}
	text, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		t.Fatalf("sign: %v", err)
	}
	return text
}

func TestTokens_AttacksAreRefused(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.want(t, 200, "", get(k.forged(t, jwt.SigningMethodHS256, k.key, nil), "/users")) // the kit makes good ones
	set := func(name string, value any) func(jwt.MapClaims) { return func(c jwt.MapClaims) { c[name] = value } }
	del := func(name string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { delete(c, name) } }
	for name, token := range map[string]string{
		"alg none":        k.forged(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil),
		"other key":       k.forged(t, jwt.SigningMethodHS256, bytes.Repeat([]byte{1}, 32), nil),
		"other algorithm": k.forged(t, jwt.SigningMethodHS512, k.key, nil),
		"expired": k.forged(t, jwt.SigningMethodHS256, k.key,
			set("exp", k.clock.Now().Add(-time.Second).Unix())),
		"without expiry": k.forged(t, jwt.SigningMethodHS256, k.key, del("exp")),
		"of the future": k.forged(t, jwt.SigningMethodHS256, k.key,
			set("iat", k.clock.Now().Add(time.Hour).Unix())),
		"other audience":    k.forged(t, jwt.SigningMethodHS256, k.key, set("aud", "somewhere")),
		"other issuer":      k.forged(t, jwt.SigningMethodHS256, k.key, set("iss", "somebody")),
		"without session":   k.forged(t, jwt.SigningMethodHS256, k.key, del("sid")),
		"unknown user":      k.forged(t, jwt.SigningMethodHS256, k.key, set("sub", id.New[id.User]().String())),
		"no user":           k.forged(t, jwt.SigningMethodHS256, k.key, set("sub", "root")),
		"not a member":      k.forged(t, jwt.SigningMethodHS256, k.key, set("orgId", k.other.String())),
		"platform's":        k.forged(t, jwt.SigningMethodHS256, k.key, set("orgId", nil)),
		"rubbish":           "a.b.c",
		"refresh as access": k.signIn(t, apitest.Acme, adminEmail).RefreshToken,
	} {
		for _, host := range []string{apitest.Acme, apitest.Other} {
			if a := k.Do(t, at(host, get(token, "/users"))); a.Status != 401 || a.Code() != "unauthenticated" {
				t.Errorf("%s at %s: %d %s", name, host, a.Status, a.Body)
			}
		}
	}
	raised := k.forged(t, jwt.SigningMethodHS256, k.key,
		func(c jwt.MapClaims) { c["sub"], c["role"] = k.users[supportEmail].String(), "super_admin" })
	k.want(t, 403, "role_required", get(raised, "/users")) // the role is the present one, whatever the token says
}

func TestTokens_AreGoodAtTheirOrganizationOnly(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, root := k.admin(t), k.signIn(t, apitest.Domain, rootEmail).AccessToken
	k.want(t, 401, "unauthenticated", at(apitest.Other, get(admin, "/users")))
	k.want(t, 401, "unauthenticated", at(apitest.Domain, get(admin, "/auth/me")))
	k.want(t, 401, "unauthenticated", at(apitest.Domain, get(admin, "/orgs")))
	k.want(t, 404, "not_found", get(admin, "/orgs"))
	k.want(t, 404, "not_found", at(apitest.Domain, get(root, "/users")))
	// a super_admin's works everywhere
	for host, name := range map[string]string{apitest.Acme: "The acme", apitest.Other: "The other"} {
		var me struct {
			Role string
			Org  struct{ Name string }
		}
		k.want(t, 200, "", at(host, get(root, "/auth/me"))).Into(t, &me)
		if me.Role != "super_admin" || me.Org.Name != name {
			t.Errorf("%s: %+v", host, me)
		}
		k.want(t, 200, "", at(host, get(root, "/users")))
	}
	k.want(t, 200, "", at(apitest.Other, post(root, "/auth/logout", nil)))
	k.want(t, 401, "unauthenticated", at(apitest.Domain, get(root, "/auth/me")))
}

func TestSignIn_CookiesOfASiblingHostAreRefused(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.signIn(t, apitest.Acme, adminEmail)
	for origin, status := range map[string]int{
		"http://" + apitest.Other: 403, "http://evil.example": 403, "null": 403, "http://" + apitest.Acme: 200,
	} {
		a := k.Do(t, apitest.Request{Method: "POST", Path: "/auth/refresh", Body: map[string]string{},
			Header: map[string]string{
				"Origin": origin, "Cookie": fmt.Sprintf("%s=%s", httpapi.CookieRefresh, in.RefreshToken),
			}})
		if a.Status != status {
			t.Errorf("%s: %d %s", origin, a.Status, a.Body)
		}
	}
}
