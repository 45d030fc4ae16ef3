package accessapi_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

func TestDisconnect_IsForAdministratorsAndTellsOnWhichWay(t *testing.T) {
	t.Parallel()
	known, silent := id.New[telemetry.SessionID](), id.New[telemetry.SessionID]()
	var asked []commands.Meta
	var insisted []bool
	k := apitest.New(t, nil, accessapi.Disconnect{
		End: func(
			_ context.Context, s telemetry.SessionID, confirmed bool, meta commands.Meta,
		) (accessapi.Disconnected, error) {
			asked, insisted = append(asked, meta), append(insisted, confirmed)
			switch s {
			case known:
				return accessapi.Disconnected{Ended: true, Via: "radius"}, nil
			case silent:
				return accessapi.Disconnected{Error: "The router did not answer."}, nil
			}
			return accessapi.Disconnected{}, commands.ErrNoSession()
		},
	}.Routes())
	for _, c := range []struct {
		session, as, body string
		status            int
		want              string
	}{
		{known.String(), apitest.Admin, `{"reason":"moves house"}`, 200, `{"ended":true,"via":"radius","error":null}`},
		{silent.String(), apitest.Admin, `{"reason":"x"}`, 200, `{"ended":false,"via":null,"error":"The router`},
		{id.New[telemetry.SessionID]().String(), apitest.Admin, `{"reason":"x"}`, 404, "session_not_found"},
		{"x", apitest.Admin, `{"reason":"x"}`, 404, "session_not_found"},
		{known.String(), apitest.Admin, `{"reason":" "}`, 422, "invalid_input"},
		{known.String(), apitest.Admin, `{"why":"x"}`, 400, ""},
		{known.String(), apitest.Support, `{"reason":"x"}`, 403, ""},
		{known.String(), "", `{"reason":"x"}`, 401, ""},
	} {
		a := k.Do(t, apitest.Request{
			Method: "POST", Path: "/sessions/" + c.session + "/disconnect", As: c.as, Body: c.body,
		})
		if a.Status != c.status || !strings.Contains(string(a.Body), c.want) {
			t.Errorf("%+v: %d %s", c, a.Status, a.Body)
		}
	}
	for query, status := range map[string]int{"confirm=true": 200, "confirm=yes": 422} {
		a := k.Do(t, apitest.Request{
			Method: "POST", Path: "/sessions/" + known.String() + "/disconnect?" + query, As: apitest.Admin,
			Body: `{"reason":"x"}`,
		})
		if a.Status != status {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
	if !slices.Equal(insisted, []bool{false, false, false, true}) {
		t.Errorf("confirmed %v", insisted)
	}
	if len(asked) != 4 || asked[0].Reason != "moves house" || asked[0].OrgID != k.Orgs["acme"].ID ||
		asked[0].IP == "" {
		t.Errorf("asked %+v", asked)
	}
}
