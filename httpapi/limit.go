package httpapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Limits are calls a minute; 0 = no limit. Source: docs/rules/http.md#limits.
type Limits struct {
	User    int // authenticated requests, per user: 300
	Login   int // sign-in and code endpoints, per address or /64 of IPv6: 10
	Webhook int // callbacks, per shortcode of an organization and kind: 100
}

// refreshesPerLogin is the number of renewals for each sign-in that an address may make. A renewal costs no hash, and
// many people behind one address renew every quarter of an hour: 60 a minute.
const refreshesPerLogin = 6

// limit counts a call under a key. Fails: rate_limited, when the key had more than perMinute calls in a minute; 0 = no
// limit.
func (s *Server) limit(ctx context.Context, key string, perMinute int) error {
	if perMinute <= 0 {
		return nil
	}
	ok, retryAfter, err := s.cfg.Limiter.Allow(ctx, key, perMinute, time.Minute)
	if err != nil {
		return err
	}
	if !ok {
		return failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(retryAfter, time.Second))
	}
	return nil
}

// CountPayment counts a call of the payment page, for its organization and its address. The number is that of sign-ins,
// but neither sign-ins nor the pages of other organizations are counted with it, since customers of many share an
// address. The page counts for itself because it answers in its own form. Fails: rate_limited.
func (c *Call) CountPayment(ctx context.Context) error {
	key := "pay:" + c.Org.ID.String() + ":" + limitedAddress(c.IP)
	return c.server.limit(ctx, key, c.server.cfg.Limits.Login)
}

// CountWebhook counts a callback of a payment provider for a gateway: a shortcode of an organization. The caller stores
// an authenticated callback before it answers with the error (docs/rules/payments.md#stored-first). Fails:
// rate_limited.
func (c *Call) CountWebhook(ctx context.Context, gateway, kind string) error {
	return c.server.limit(ctx, "webhook:"+gateway+":"+kind, c.server.cfg.Limits.Webhook)
}
