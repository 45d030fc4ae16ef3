package identityapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestLogin_AnswersAsSpecifiedAndSetsBothCookies(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	a := k.Login(t, apitest.Acme, "  Ada@ACME.test ", isptest.RightPassword)
	var in isptest.SignedIn
	a.Into(t, &in)
	if a.Status != 200 || in.User.Email != isptest.AdminEmail || in.User.Role != "admin" || in.Org == nil ||
		in.Org.Slug != "acme" || in.MustChangePassword {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	set := isptest.Cookies(a)
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
	k.Want(t, 200, "", apitest.Request{Path: "/auth/me", Cookie: in.AccessToken}).Into(t, &me)
	if me.ID != in.User.ID || me.Email != isptest.AdminEmail || me.Role != "admin" || me.Status != "active" ||
		me.Org.Name != "The acme" || me.Phone != nil {
		t.Errorf("me: %+v", me)
	}
}

func TestLogin_HostRules(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	var root isptest.SignedIn
	k.Login(t, apitest.Domain, isptest.RootEmail, isptest.RightPassword).Into(t, &root)
	if root.User.Role != "super_admin" || root.Org != nil {
		t.Errorf("root: %+v", root)
	}
	for _, c := range []struct {
		host, email, password string
		status                int
		code                  string
	}{
		{apitest.Domain, isptest.AdminEmail, isptest.RightPassword, 403, "super_admin_only"},
		{apitest.Domain, isptest.AdminEmail, "wrong", 401, "wrong_credentials"},
		{apitest.Acme, isptest.RootEmail, isptest.RightPassword, 401, "wrong_credentials"},
		{apitest.Acme, isptest.OlgaEmail, isptest.RightPassword, 401, "wrong_credentials"},
		{apitest.Acme, isptest.AdminEmail, "wrong", 401, "wrong_credentials"},
		{apitest.Acme, "nobody@acme.test", isptest.RightPassword, 401, "wrong_credentials"},
		{apitest.Unknown, isptest.AdminEmail, isptest.RightPassword, 404, "not_found"},
		{"elsewhere.example", isptest.AdminEmail, isptest.RightPassword, 404, "not_found"},
	} {
		if a := k.Login(t, c.host, c.email, c.password); a.Status != c.status || a.Code() != c.code {
			t.Errorf("%s at %s: %d %s", c.email, c.host, a.Status, a.Body)
		}
	}
}

func TestLogin_WrongUnknownAndStrangerAreTheSame(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	var first []byte
	for try := 1; try <= 6; try++ { // the sixth is locked, for each address
		for _, who := range []string{isptest.AdminEmail, "nobody@acme.test", isptest.OlgaEmail} {
			password := "wrong"
			if who == isptest.OlgaEmail {
				password = isptest.RightPassword // a person who is not a member here
			}
			a := k.Login(t, apitest.Acme, who, password)
			want := "wrong_credentials"
			if try == 6 {
				want = "account_locked"
			}
			if a.Status != 401 || a.Code() != want || len(isptest.Cookies(a)) != 0 {
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
		k.Login(t, apitest.Acme, isptest.AdminEmail, "wrong")
	}
	k.SignIn(t, apitest.Acme, isptest.AdminEmail) // resets the count
	for range 5 {
		k.Login(t, apitest.Acme, isptest.AdminEmail, "wrong")
	}
	if a := k.Login(t, apitest.Acme, isptest.AdminEmail,
		isptest.RightPassword); a.Status != 401 || a.Code() != "account_locked" ||
		!bytes.Contains(a.Body, []byte("temporarily locked")) {
		t.Errorf("locked: %d %s", a.Status, a.Body)
	}
	if a := k.Login(t, apitest.Domain, isptest.AdminEmail, isptest.RightPassword); a.Code() != "super_admin_only" {
		t.Errorf("tries at one host were counted at another: %d %s", a.Status, a.Body)
	}
	k.Clock.Advance(15*time.Minute + time.Second)
	k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	for range 6 { // a right password at the wrong host does not count
		if a := k.Login(t, apitest.Domain, isptest.AdminEmail, isptest.RightPassword); a.Code() != "super_admin_only" {
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
		if a := k.Do(t, isptest.Post("", "/auth/login", body)); a.Status != want {
			t.Errorf("%s: %d %s, want %d", body, a.Status, a.Body, want)
		}
	}
}

func TestRefresh_RotatesAndReuseRevokesBoth(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	k.Clock.Advance(16 * time.Minute)
	k.Want(t, 401, "unauthenticated", isptest.Get(in.AccessToken, "/auth/me"))
	var next struct{ Message, AccessToken, RefreshToken string }
	a := k.Want(t, 200, "", apitest.Request{
		Method: "POST", Path: "/auth/refresh", Header: map[string]string{
			"Cookie": httpapi.CookieRefresh + "=" + in.RefreshToken,
		},
	})
	a.Into(t, &next)
	if next.Message == "" || next.RefreshToken == in.RefreshToken ||
		isptest.Cookies(a)[httpapi.CookieRefresh].Value != next.RefreshToken {
		t.Fatalf("%s", a.Body)
	}
	k.Want(t, 200, "", isptest.Get(next.AccessToken, "/auth/me"))
	reuse := k.Want(t, 401, "refresh_token_reused", isptest.Post("", "/auth/refresh", map[string]string{
		"refreshToken": in.RefreshToken,
	}))
	if c := isptest.Cookies(reuse)[httpapi.CookieRefresh]; c == nil || c.MaxAge >= 0 {
		t.Errorf("cookie stays: %+v", c)
	}
	k.Want(t, 401, "refresh_token_invalid", isptest.Post("", "/auth/refresh", map[string]string{
		"refreshToken": next.RefreshToken,
	}))
	k.Want(t, 401, "unauthenticated", isptest.Get(next.AccessToken, "/auth/me")) // at once, not when the token expires
}

func TestRefresh_OnlyAtItsHostAndWithinItsTime(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	body := map[string]string{"refreshToken": in.RefreshToken}
	for _, host := range []string{apitest.Other, apitest.Domain} {
		k.Want(t, 401, "unauthenticated", isptest.At(host, isptest.Post("", "/auth/refresh", body)))
	}
	k.Want(t, 401, "unauthenticated", isptest.Post("", "/auth/refresh", nil))
	k.Want(t, 401, "refresh_token_invalid", isptest.Post("", "/auth/refresh", map[string]string{
		"refreshToken": "guess",
	}))
	k.Clock.Advance(7*24*time.Hour + time.Second)
	k.Want(t, 401, "refresh_token_invalid", isptest.Post("", "/auth/refresh", body))
}

func TestRefresh_ASessionEndsAfterThirtyDays(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	began := k.Clock.Now()
	renew := func(want int, code string) (a apitest.Answer) {
		a = k.Want(t, want, code, isptest.Post("", "/auth/refresh", map[string]string{"refreshToken": in.RefreshToken}))
		if want == 200 {
			a.Into(t, &in)
		}
		return a
	}
	for range 5 { // up to day 29
		k.Clock.Advance(6*24*time.Hour - 288*time.Minute)
		renew(200, "")
	}
	k.Clock.Advance(24*time.Hour - 5*time.Minute)
	a := renew(200, "")
	if left := isptest.Cookies(a)[httpapi.CookieRefresh].MaxAge; left != 300 {
		t.Errorf("the refresh cookie lasts %d s more, want 300", left)
	}
	k.Want(t, 200, "", isptest.Get(in.AccessToken, "/auth/me"))
	k.Clock.Advance(began.Add(30*24*time.Hour + time.Second).Sub(k.Clock.Now()))
	k.Want(t, 401, "unauthenticated", isptest.Get(in.AccessToken, "/auth/me"))
	renew(401, "refresh_token_invalid")
}

func TestPassword_ChangeEndsEveryOtherSession(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in, second := k.SignIn(t, apitest.Acme, isptest.AdminEmail), k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	change := func(current, next string) apitest.Request {
		return isptest.Post(in.AccessToken, "/auth/password", map[string]string{
			"currentPassword": current, "newPassword": next,
		})
	}
	k.Want(t, 422, "wrong_password", change("wrong one", "another good one"))
	k.Want(t, 422, "invalid_input", change(isptest.RightPassword, "short"))
	k.Want(t, 422, "invalid_input", change(isptest.RightPassword, isptest.RightPassword))
	k.Want(t, 200, "", change(isptest.RightPassword, "another good one"))
	k.Want(t, 200, "", isptest.Get(in.AccessToken, "/auth/me"))
	k.Want(t, 401, "unauthenticated", isptest.Get(second.AccessToken, "/auth/me"))
	k.Want(t, 401, "refresh_token_invalid", isptest.Post("", "/auth/refresh", map[string]string{
		"refreshToken": second.RefreshToken,
	}))
	if a := k.Login(t, apitest.Acme, isptest.AdminEmail, isptest.RightPassword); a.Status != 401 {
		t.Errorf("old password: %d", a.Status)
	}
	if a := k.Login(t, apitest.Acme, isptest.AdminEmail, "another good one"); a.Status != 200 {
		t.Errorf("new password: %d %s", a.Status, a.Body)
	}
	for range 5 {
		k.Do(t, change("a guess", "yet another one"))
	}
	k.Want(t, 401, "account_locked", change("another good one", "yet another one")) // no guessing
}

func TestSessions_ListAndEnd(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	for range 3 {
		k.Clock.Advance(time.Second)
		k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	}
	olga := k.SignIn(t, apitest.Other, isptest.OlgaEmail)
	type page struct {
		Data []struct {
			ID          string
			Current     bool
			Browser, IP *string
		}
		NextCursor *string
	}
	var seen []string
	var current, other string
	for cursor := ""; ; {
		var p page
		k.Want(t, 200, "", isptest.Get(in.AccessToken, "/auth/sessions?limit=2"+cursor)).Into(t, &p)
		for _, s := range p.Data {
			seen = append(seen, s.ID)
			if s.Browser == nil || *s.Browser != "Go-http-client" || s.IP == nil || *s.IP != "127.0.0.1" {
				t.Errorf("begun with %v from %v", s.Browser, s.IP)
			}
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
	k.Want(t, 404, "session_not_found", isptest.At(apitest.Other, end(olga.AccessToken, other))) // another user's
	k.Want(t, 404, "session_not_found", end(in.AccessToken, "no-id"))
	k.Want(t, 204, "", end(in.AccessToken, other))
	k.Want(t, 404, "session_not_found", end(in.AccessToken, other))
	if a := k.Want(t, 204, "", end(in.AccessToken, current)); isptest.Cookies(a)[httpapi.CookieAccess] == nil {
		t.Error("cookies stay")
	}
	k.Want(t, 401, "unauthenticated", isptest.Get(in.AccessToken, "/auth/me"))
}

// forged makes a token; edit changes the claims of a valid one.
func (k *ispKit) forged(t *testing.T, method jwt.SigningMethod, key any, edit func(jwt.MapClaims)) string {
	t.Helper()
	now := k.Clock.Now()
	c := jwt.MapClaims{
		"sub": k.Users[isptest.AdminEmail].String(), "role": "admin", "orgId": k.Acme.String(),
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
	// without a change it is valid
	k.Want(t, 200, "", isptest.Get(k.forged(t, jwt.SigningMethodHS256, k.Key, nil), "/users"))
	set := func(name string, value any) func(jwt.MapClaims) { return func(c jwt.MapClaims) { c[name] = value } }
	del := func(name string) func(jwt.MapClaims) { return func(c jwt.MapClaims) { delete(c, name) } }
	for name, token := range map[string]string{
		"alg none":        k.forged(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil),
		"other key":       k.forged(t, jwt.SigningMethodHS256, bytes.Repeat([]byte{1}, 32), nil),
		"other algorithm": k.forged(t, jwt.SigningMethodHS512, k.Key, nil),
		"expired": k.forged(t, jwt.SigningMethodHS256, k.Key,
			set("exp", k.Clock.Now().Add(-time.Second).Unix())),
		"without expiry": k.forged(t, jwt.SigningMethodHS256, k.Key, del("exp")),
		"of the future": k.forged(t, jwt.SigningMethodHS256, k.Key,
			set("iat", k.Clock.Now().Add(time.Hour).Unix())),
		"other audience":    k.forged(t, jwt.SigningMethodHS256, k.Key, set("aud", "somewhere")),
		"other issuer":      k.forged(t, jwt.SigningMethodHS256, k.Key, set("iss", "somebody")),
		"without session":   k.forged(t, jwt.SigningMethodHS256, k.Key, del("sid")),
		"unknown user":      k.forged(t, jwt.SigningMethodHS256, k.Key, set("sub", id.New[id.User]().String())),
		"no user":           k.forged(t, jwt.SigningMethodHS256, k.Key, set("sub", "root")),
		"not a member":      k.forged(t, jwt.SigningMethodHS256, k.Key, set("orgId", k.Other.String())),
		"platform's":        k.forged(t, jwt.SigningMethodHS256, k.Key, set("orgId", nil)),
		"rubbish":           "a.b.c",
		"refresh as access": k.SignIn(t, apitest.Acme, isptest.AdminEmail).RefreshToken,
	} {
		for _, host := range []string{apitest.Acme, apitest.Other} {
			if a := k.Do(t, isptest.At(host, isptest.Get(token, "/users"))); a.Status != 401 ||
				a.Code() != "unauthenticated" {
				t.Errorf("%s at %s: %d %s", name, host, a.Status, a.Body)
			}
		}
	}
	raised := k.forged(t, jwt.SigningMethodHS256, k.Key,
		func(c jwt.MapClaims) { c["sub"], c["role"] = k.Users[isptest.SupportEmail].String(), "super_admin" })
	// the present role counts, whatever the token says
	k.Want(t, 403, "role_required", isptest.Get(raised, "/users"))
}

// TestTokens_AreGoodForTheirTimeOnly, also when their signature has been checked before, and no other text is good for
// it.
func TestTokens_AreGoodForTheirTimeOnly(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	token := k.forged(t, jwt.SigningMethodHS256, k.Key, nil)
	k.Want(t, 200, "", isptest.Get(token, "/users"))
	k.Want(t, 200, "", isptest.Get(token, "/users"))
	k.Want(t, 401, "unauthenticated", isptest.Get(token[:len(token)-2], "/users"))
	k.Clock.Advance(-time.Hour)
	k.Want(t, 401, "unauthenticated", isptest.Get(token, "/users")) // of the future
	k.Clock.Advance(time.Hour)
	k.Want(t, 200, "", isptest.Get(token, "/users"))
	k.Clock.Advance(time.Minute)
	k.Want(t, 401, "unauthenticated", isptest.Get(token, "/users"))
}

func TestTokens_AreGoodAtTheirOrganizationOnly(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, root := k.Admin(t), k.SignIn(t, apitest.Domain, isptest.RootEmail).AccessToken
	k.Want(t, 401, "unauthenticated", isptest.At(apitest.Other, isptest.Get(admin, "/users")))
	k.Want(t, 401, "unauthenticated", isptest.At(apitest.Domain, isptest.Get(admin, "/auth/me")))
	k.Want(t, 401, "unauthenticated", isptest.At(apitest.Domain, isptest.Get(admin, "/orgs")))
	k.Want(t, 404, "not_found", isptest.Get(admin, "/orgs"))
	k.Want(t, 404, "not_found", isptest.At(apitest.Domain, isptest.Get(root, "/users")))
	// a super_admin's token is valid at every organization
	for host, name := range map[string]string{apitest.Acme: "The acme", apitest.Other: "The other"} {
		var me struct {
			Role string
			Org  struct{ Name string }
		}
		k.Want(t, 200, "", isptest.At(host, isptest.Get(root, "/auth/me"))).Into(t, &me)
		if me.Role != "super_admin" || me.Org.Name != name {
			t.Errorf("%s: %+v", host, me)
		}
		k.Want(t, 200, "", isptest.At(host, isptest.Get(root, "/users")))
	}
	k.Want(t, 200, "", isptest.At(apitest.Other, isptest.Post(root, "/auth/logout", nil)))
	k.Want(t, 401, "unauthenticated", isptest.At(apitest.Domain, isptest.Get(root, "/auth/me")))
}

func TestSignIn_CookiesOfASiblingHostAreRefused(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
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
