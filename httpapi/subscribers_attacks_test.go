package httpapi_test

import (
	"strings"
	"testing"
)

func TestSubscriptions_DatesAndReasonsBeyondBeliefAreRefused(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.admin(t)
	c, plan := k.register(t, admin, amina()), k.plan(t, admin, "home-10", "prepaid", "month")
	for _, day := range []string{"9999-12-31", "2031-12-31", "0000-01-01"} {
		k.want(t, 422, "invalid_input", post(admin, "/subscriptions", map[string]any{
			"subscriberId": c.ID, "planId": plan, "startDate": day,
		}))
	}
	s := k.subscribe(t, admin, c.ID, plan, map[string]any{"startDate": "2031-03-01"})
	long := map[string]any{"reason": strings.Repeat("x", 501)}
	for _, path := range []string{
		"/subscriptions/" + s.ID + "/end", "/subscriptions/" + s.ID + "/pause", "/plans/" + plan + "/archive",
		"/subscribers/" + c.ID + "/block",
	} {
		k.want(t, 422, "invalid_input", post(admin, path, long))
	}
}
