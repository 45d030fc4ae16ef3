package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// noRefusal is a Refusals that nothing may be told.
type noRefusal struct{ t *testing.T }

// Note fails the test.
func (n noRefusal) Note(_ context.Context, r httpapi.Refusal, _ commands.Meta) error {
	n.t.Errorf("recorded: %+v", r)
	return nil
}

// expecting is a request of somebody for whom the page takes another one.
func expecting(r apitest.Request, user string) apitest.Request {
	header := map[string]string{"X-Expected-User": user}
	for name, value := range r.Header {
		header[name] = value
	}
	r.Header = header
	return r
}

func TestExpectedUser_NothingIsDoneForAPageOfSomebodyElse(t *testing.T) {
	t.Parallel()
	p := apitest.NewParcels()
	k := apitest.New(t, func(cfg *httpapi.Config) { cfg.Refusals = noRefusal{t} }, p.Routes())
	other := apitest.Is(409, "another_person")
	support := k.Callers[apitest.Support].UserID.String()
	for _, r := range []apitest.Request{
		{Path: "/parcels", As: apitest.Admin}, {Path: "/parcels", Cookie: apitest.Admin},
		{Path: apitest.AParcel, As: apitest.Subscriber}, {Path: "/auth/mine", As: apitest.NewAdmin},
		{Path: "/parcels", As: apitest.Super}, {Path: "/depots", As: apitest.Super, Host: apitest.Domain},
		{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: apitest.Good},
		{Method: "POST", Path: "/parcels", Cookie: apitest.Super, Body: apitest.Good},
		{Method: "PATCH", Path: apitest.AParcel, As: apitest.Admin, Body: `{}`},
		{Method: "DELETE", Path: apitest.AParcel, As: apitest.Admin}, apitest.Keyed("k", apitest.Good),
	} {
		apitest.Sends(t, k, r.Method+" "+r.Path+" as "+r.As+r.Cookie, expecting(r, support), other)
	}
	apitest.Sends(t, k, "the key was not used", apitest.Keyed("k", `{"name":"b","amount":1}`), apitest.Is(201, ""))
	if n := len(p.Made); n != 1 {
		t.Errorf("acted %d times", n)
	}
}

func TestExpectedUser_IsComparedWithWhomeverTheTokenNames(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	own := k.Callers[apitest.Admin].UserID.String()
	list := apitest.Request{Path: "/parcels", As: apitest.Admin}
	for user, w := range map[string]apitest.Want{
		own: apitest.Is(200, ""), strings.ToUpper(own): apitest.Is(200, ""), " " + own: apitest.Is(200, ""),
		"":               apitest.Is(409, "another_person"), // a page that does not know for whom it is
		"admin":          apitest.Is(409, "another_person"),
		own + ", " + own: apitest.Is(409, "another_person"),
		own + ", x":      apitest.Is(409, "another_person"),
		k.Callers[apitest.OtherAdmin].UserID.String(): apitest.Is(409, "another_person"),
	} {
		apitest.Sends(t, k, "expected "+user, expecting(list, user), w)
	}
	stale := expecting(list, own)
	for as, w := range map[string]apitest.Want{
		"": apitest.Is(401, "unauthenticated"), "x": apitest.Is(401, "unauthenticated"),
		// Of another organization, too: the session of the page has not ended, it is somebody else's.
		apitest.OtherAdmin: apitest.Is(409, "another_person"), apitest.Support: apitest.Is(409, "another_person"),
	} {
		stale.As = as
		apitest.Sends(t, k, "signed in "+as, stale, w)
	}
	apitest.Sends(t, k, "a parameter elsewhere", apitest.Request{Path: "/parcels?expectedUser=" + own,
		As: apitest.Admin}, apitest.Is(400, unknown))
	apitest.Sends(t, k, "without a sign-in", expecting(apitest.Request{Method: "POST", Path: "/auth/knock"}, own),
		apitest.Is(200, ""))
}

func TestExpectedUser_OfACallBeyondTheLimitCostsItsCallerNothing(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(cfg *httpapi.Config) { cfg.Limits.User = 1 }, apitest.NewParcels().Routes())
	list := apitest.Request{Path: "/parcels", As: apitest.Admin}
	for range 3 {
		apitest.Sends(t, k, "of somebody else", expecting(list, k.Callers[apitest.Support].UserID.String()),
			apitest.Is(409, "another_person"))
	}
	apitest.Sends(t, k, "own", list, apitest.Is(200, ""))
}
