package httpapi

import (
	"context"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Limits are calls a minute; 0 = no limit. Source: docs/rules/http.md#limits.
type Limits struct {
	User    int // authenticated requests, per user and per API key: 300
	Login   int // sign-in and code endpoints, per address or /64 of IPv6: 10
	Webhook int // callbacks, per shortcode of an organization and kind: 100
}

// refreshesPerLogin is the number of renewals for each sign-in that an address may make. A renewal costs no hash, and
// many people behind one address renew every quarter of an hour: 60 a minute.
const refreshesPerLogin = 6

// The payment page of an organization has this many calls from one address in a window for each sign-in that it may
// have in a minute: 500 in 10 minutes. Hundreds of customers behind one address come to the page at once when their
// month is over.
const (
	paymentsPerLogin = 50
	paymentsWindow   = 10 * time.Minute
)

// limit counts a call under a key. Fails: rate_limited, when the key had more than perMinute calls in a minute; 0 = no
// limit.
func (s *Server) limit(ctx context.Context, key string, perMinute int) error {
	return s.limitAll(ctx, perMinute, vault.Quota{Key: key, Limit: perMinute, Window: time.Minute})
}

// limitAll counts a call against several quotas at once, or against none when one is used up. Nothing is counted while
// perMinute, the setting they come from, is 0.
func (s *Server) limitAll(ctx context.Context, perMinute int, quotas ...vault.Quota) error {
	if perMinute <= 0 {
		return nil
	}
	ok, retryAfter, err := s.cfg.Limiter.AllowAll(ctx, quotas...)
	if err != nil {
		return err
	}
	if !ok {
		return failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(retryAfter, time.Second))
	}
	return nil
}

// countCaller counts a call of a person or an API key. One whose answer needs no database is not counted while the
// counters cannot be reached. Fails: rate_limited.
func (s *Server) countCaller(ctx context.Context, c *Call, who Caller) error {
	spared := c.route.needsNoStorage()
	if spared && s.cfg.Storage != nil && s.cfg.Storage.Until(true).Err() != nil {
		return nil
	}
	err := s.limit(ctx, "user:"+who.UserID.String(), s.cfg.Limits.User)
	if spared && failure.CodeOf(err) != "rate_limited" {
		return nil
	}
	return err
}

// CountPayment counts a call of an organization's payment page: for its address and the account as it was typed, as
// often as sign-ins, and for its address whatever is typed (docs/rules/access-walled-garden.md#same-answer). account is
// "" when none can be read. The page counts for itself because it answers in its own form. Fails: rate_limited.
func (c *Call) CountPayment(ctx context.Context, account string) error {
	key, login := "pay:"+c.Org.ID.String()+":"+limitedAddress(c.IP), c.server.cfg.Limits.Login
	quotas := []vault.Quota{{Key: key, Limit: paymentsPerLogin * login, Window: paymentsWindow}}
	if account != "" {
		typed := strings.ToUpper(strings.Join(strings.Fields(account), ""))
		quotas = append(quotas, vault.Quota{Key: key + ":" + typed, Limit: login, Window: time.Minute})
	}
	return c.server.limitAll(ctx, login, quotas...)
}

// CountStatus counts a look at an organization's public status page, for its address, as often as looks at the payment
// page. Fails: rate_limited.
func (c *Call) CountStatus(ctx context.Context) error {
	login := c.server.cfg.Limits.Login
	return c.server.limitAll(ctx, login, vault.Quota{
		Key:   "status:" + c.Org.ID.String() + ":" + limitedAddress(c.IP),
		Limit: paymentsPerLogin * login, Window: paymentsWindow,
	})
}

// CountUpload counts an upload of a device that is measured, for its address, as often as callbacks of a payment
// provider. Fails: rate_limited.
func (c *Call) CountUpload(ctx context.Context) error {
	return c.server.limit(ctx, "upload:"+limitedAddress(c.IP), c.server.cfg.Limits.Webhook)
}

// CountSignOut counts a sign-out without an access token, which costs a look into the database: for its address, as
// often as renewals but apart from them, so that the renewals of many keep nobody signed in. Fails: rate_limited.
func (c *Call) CountSignOut(ctx context.Context) error {
	return c.server.limit(ctx, "logout:"+limitedAddress(c.IP), refreshesPerLogin*c.server.cfg.Limits.Login)
}

// CountWebhook counts a callback of a payment provider for a gateway: a shortcode of an organization. The caller stores
// an authenticated callback before it answers with the error (docs/rules/payments.md#stored-first). Fails:
// rate_limited.
func (c *Call) CountWebhook(ctx context.Context, gateway, kind string) error {
	return c.server.limit(ctx, "webhook:"+gateway+":"+kind, c.server.cfg.Limits.Webhook)
}
