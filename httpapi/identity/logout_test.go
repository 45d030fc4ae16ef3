package identityapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestLogout_EndsTheSessionAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in, second := k.SignIn(t, apitest.Acme, isptest.AdminEmail), k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	a := k.Want(t, 200, "", isptest.Post(in.AccessToken, "/auth/logout", nil))
	if c := isptest.Cookies(a); c[httpapi.CookieAccess].MaxAge >= 0 || c[httpapi.CookieRefresh].MaxAge >= 0 {
		t.Errorf("cookies stay: %v", a.Header)
	}
	k.Want(t, 401, "unauthenticated", isptest.Get(in.AccessToken, "/auth/me"))
	k.Want(t, 401, "refresh_token_invalid", isptest.Post("", "/auth/refresh", map[string]string{
		"refreshToken": in.RefreshToken,
	}))
	k.Want(t, 200, "", isptest.Get(second.AccessToken, "/auth/me"))
	k.Want(t, 401, "unauthenticated", isptest.Post("", "/auth/logout", nil))
}

func TestLogout_TheRefreshCookieAloneIsEnough(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	k.Clock.Advance(16 * time.Minute) // the access token has run out
	leave := func(host string) apitest.Request {
		return isptest.At(host, apitest.Request{Method: "POST", Path: "/auth/logout", Header: map[string]string{
			"Cookie": httpapi.CookieRefresh + "=" + in.RefreshToken + "; " + httpapi.CookieAccess + "=" +
				in.AccessToken,
		}})
	}
	a := k.Want(t, 401, "unauthenticated", leave(apitest.Other))
	if len(isptest.Cookies(a)) != 0 {
		t.Error("another organization's host deletes the cookies of this one")
	}
	a = k.Want(t, 200, "", leave(apitest.Acme))
	if c := isptest.Cookies(a); c[httpapi.CookieAccess].MaxAge >= 0 || c[httpapi.CookieRefresh].MaxAge >= 0 {
		t.Errorf("cookies stay: %v", a.Header)
	}
	k.Want(t, 401, "refresh_token_invalid", isptest.Post("", "/auth/refresh", map[string]string{
		"refreshToken": in.RefreshToken,
	}))
	a = k.Want(t, 401, "unauthenticated", leave(apitest.Acme)) // it has ended: the browser forgets it all the same
	if c := isptest.Cookies(a)[httpapi.CookieRefresh]; c == nil || c.MaxAge >= 0 {
		t.Errorf("cookies of an ended session stay: %v", a.Header)
	}
}

func TestLogout_LeavesSomebodyElseSignedIn(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	leave := func(user string) apitest.Request {
		return apitest.Request{Method: "POST", Path: "/auth/logout", Header: map[string]string{
			"X-Expected-User": user, "Cookie": httpapi.CookieRefresh + "=" + in.RefreshToken + "; " +
				httpapi.CookieAccess + "=" + in.AccessToken,
		}}
	}
	other := id.New[id.User]().String()
	for _, name := range []string{"by the access token", "by the refresh cookie"} {
		a := k.Want(t, 409, "another_person", leave(other))
		if len(isptest.Cookies(a)) != 0 {
			t.Errorf("%s: it deletes the other one's cookies", name)
		}
		k.Clock.Advance(16 * time.Minute) // the access token has run out
	}
	renew := isptest.Post("", "/auth/refresh", map[string]string{"refreshToken": in.RefreshToken})
	renew.Header = map[string]string{"X-Expected-User": other}
	k.Want(t, 200, "", renew).Into(t, &in) // a page finds out who is signed in
	k.Want(t, 200, "", leave(in.User.ID))
}

// limited is a second server over the kit, with limits; it gives a function that posts to it.
func (k *ispKit) limited(
	t *testing.T, limits httpapi.Limits,
) func(path string, header map[string]string) apitest.Answer {
	t.Helper()
	cfg := k.Config()
	cfg.Limits = limits
	var auth []httpapi.Route
	for _, r := range k.Server.Routes() {
		if strings.HasPrefix(r.Path, "/auth/") {
			auth = append(auth, r)
		}
	}
	server, err := httpapi.New(cfg, auth)
	if err != nil {
		t.Fatal(err)
	}
	return func(path string, header map[string]string) apitest.Answer {
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, nil)
		r.Host = apitest.Acme
		for name, value := range header {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return apitest.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()}
	}
}

// cookies is the header of a browser with both tokens, or with the refresh token alone.
func cookies(in isptest.SignedIn, access bool) map[string]string {
	header := httpapi.CookieRefresh + "=" + in.RefreshToken
	if access {
		header += "; " + httpapi.CookieAccess + "=" + in.AccessToken
	}
	return map[string]string{"Cookie": header}
}

// forgotten fails the test unless an answer deletes both cookies, and says that the session goes on.
func forgotten(t *testing.T, a apitest.Answer) {
	t.Helper()
	c := isptest.Cookies(a)
	access, refresh := c[httpapi.CookieAccess], c[httpapi.CookieRefresh]
	if a.Status != http.StatusServiceUnavailable || a.Code() != "sign_out_unfinished" ||
		access == nil || access.MaxAge >= 0 || refresh == nil || refresh.MaxAge >= 0 {
		t.Errorf("%d %s %v", a.Status, a.Body, a.Header)
	}
}

func TestLogout_TheRenewalsOfAnAddressKeepNobodySignedIn(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	one, two := k.SignIn(t, apitest.Acme, isptest.AdminEmail), k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	send := k.limited(t, httpapi.Limits{Login: 1})
	for range 7 {
		send("/auth/refresh", nil)
	}
	if got := send("/auth/refresh", nil); got.Status != http.StatusTooManyRequests {
		t.Fatalf("renewals are not bounded: %d", got.Status)
	}
	for access, in := range map[bool]isptest.SignedIn{true: one, false: two} {
		if got := send("/auth/logout", cookies(in, access)); got.Status != 200 {
			t.Errorf("with an access token %v: %d %s", access, got.Status, got.Body)
		}
		k.Want(t, 401, "unauthenticated", isptest.Get(in.AccessToken, "/auth/me"))
	}
}

func TestLogout_TheBrowserForgetsWhomTheServerCouldNotSignOut(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	send := k.limited(t, httpapi.Limits{Login: 1})
	guess := map[string]string{"Cookie": httpapi.CookieRefresh + "=guess"}
	for range 6 {
		if got := send("/auth/logout", guess); got.Status != http.StatusUnauthorized {
			t.Fatalf("a guess: %d", got.Status)
		}
	}
	forgotten(t, send("/auth/logout", cookies(in, false))) // limited
	table := k.Core.DB.Namespace.Schema("vault")
	if _, err := k.Core.DB.Owner.Exec(t.Context(), "alter table "+table+".sessions rename to gone"); err != nil {
		t.Fatal(err)
	}
	forgotten(t, send("/auth/logout", cookies(in, true))) // the vault is away
	foreign := cookies(in, true)
	foreign["Origin"] = "http://" + apitest.Other
	if got := send("/auth/logout", foreign); got.Code() != "bad_origin" || len(isptest.Cookies(got)) > 0 {
		t.Errorf("another tenant's page: %d %v", got.Status, got.Header)
	}
	program := map[string]string{"Authorization": "Bearer " + in.AccessToken}
	if got := send("/auth/logout", program); got.Code() != "database_unavailable" || len(isptest.Cookies(got)) > 0 {
		t.Errorf("a program without cookies: %d %s %v", got.Status, got.Body, got.Header)
	}
	other := cookies(in, true)
	other["X-Expected-User"] = id.New[id.User]().String()
	if got := send("/auth/logout", other); got.Code() != "another_person" || len(isptest.Cookies(got)) > 0 {
		t.Errorf("for somebody else: %d %v", got.Status, got.Header)
	}
	k.Want(t, 200, "", isptest.Get(in.AccessToken, "/auth/me"))
}
