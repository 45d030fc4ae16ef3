package subscribersapi_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
)

func TestSubscriptions_DatesAndReasonsBeyondBeliefAreRefused(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c, plan := k.Register(t, admin, isptest.Amina()), k.Plan(t, admin, "home-10", "prepaid", "month")
	for _, day := range []string{"9999-12-31", "2031-12-31", "0000-01-01"} {
		k.Want(t, 422, "invalid_input", isptest.Post(admin, "/subscriptions", map[string]any{
			"subscriberId": c.ID, "planId": plan, "startDate": day,
		}))
	}
	s := k.subscribe(t, admin, c.ID, plan, map[string]any{"startDate": "2031-03-01"})
	long := map[string]any{"reason": strings.Repeat("x", 501)}
	for _, path := range []string{
		"/subscriptions/" + s.ID + "/end", "/subscriptions/" + s.ID + "/pause", "/plans/" + plan + "/archive",
		"/subscribers/" + c.ID + "/block",
	} {
		k.Want(t, 422, "invalid_input", isptest.Post(admin, path, long))
	}
}
