package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// seededName is the file in DATA_DIR that marks the demo's data as complete.
const seededName = "demo-seeded"

// seededMark is its content. The number grows when the demo needs other data than the one before it made: routers that
// are registered in another way, customers with other passwords.
const seededMark = "The demo's data is complete, version 2.\n"

// refuseFormerDemo fails when the directory has the complete data of another version of the demo, whose routers and
// customers would not get online.
func refuseFormerDemo(dir string) error {
	mark, err := os.ReadFile(filepath.Join(dir, seededName)) //nolint:gosec // the directory is the operator's
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("DATA_DIR: %w", err)
	case string(mark) != seededMark:
		return fmt.Errorf("the data in %s was made by another version of the demo, whose routers are registered in "+
			"another way; delete the directory and start again, or choose another DATA_DIR", dir)
	}
	return nil
}

// demoSeed makes the demo's data through the API with idempotency keys, so that a start after an interrupted one makes
// nothing twice. A complete start leaves a mark in DATA_DIR.
type demoSeed struct {
	app   *App
	root  apiClient
	admin apiClient
	sim   apiClient
	plans map[string]string // ids by code
}

// seedDemo makes the demo's data at the first start, plugs the routers in at every start, and writes progress to out.
func (a *App) seedDemo(ctx context.Context, out io.Writer, routers *router.Simulator) error {
	mark := filepath.Join(a.cfg.DataDir, seededName)
	if _, err := os.Stat(mark); err == nil {
		s := &demoSeed{app: a}
		if s.admin, err = s.ownPassword(ctx, demoAdminEmail); err != nil {
			return nil //nolint:nilerr // somebody changed the password: the routers stay unplugged
		}
		return s.plugRouters(ctx, routers)
	}
	_, _ = fmt.Fprintln(out, "Making the demo ISP ...")
	s := &demoSeed{app: a, plans: map[string]string{}}
	steps := []func(context.Context) error{
		s.signIn, s.makeISP, s.makeStaff, s.makePlans, s.makeSubscribers, s.makeSuspense, s.makeRouters,
		func(ctx context.Context) error { return s.plugRouters(ctx, routers) },
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, []byte(seededMark), 0o600)
}

// client gives a client for an organization's host, not signed in; slug "" is the root host.
func (s *demoSeed) client(slug string) apiClient {
	host := s.app.cfg.ServiceDomain
	if slug != "" {
		host = slug + "." + host
	}
	return apiClient{addr: s.app.Addr(), host: host}
}

// signIn makes the super_admin, as `lastmile admin create` does, and signs in.
func (s *demoSeed) signIn(ctx context.Context) error {
	err := addSuperAdmin(ctx, s.app.engines.bus, s.app.storage.vault, identitycases.SuperAdmin{
		UserID: demoRoot(), Email: personal.Of(demoRootEmail), FirstName: personal.Of("Platform"),
		LastName: personal.Of("Root"), Password: demoPassword,
	})
	if err != nil && failure.CodeOf(err) != "user_exists" {
		return err
	}
	provider, err := url.Parse(s.app.provider)
	if err != nil {
		return err
	}
	s.sim = apiClient{addr: provider.Host, host: provider.Host}
	return until(ctx, "sign in as super_admin", func(ctx context.Context) (ok bool, err error) {
		s.root, _, err = s.client("").login(ctx, demoRootEmail, demoPassword.Reveal())
		s.root = s.root.staying(demoRootEmail, demoPassword.Reveal())
		return err == nil, err
	})
}

// makeISP makes the demo's organization and signs its administrator in.
func (s *demoSeed) makeISP(ctx context.Context) error {
	_, err := s.root.call(ctx, http.MethodPost, "/orgs", "demo-org", map[string]any{
		"slug": demoSlug, "name": "Demo Networks", "timezone": "Africa/Nairobi", "currency": "KES", "country": "KE",
		"admin": map[string]string{
			"email": demoAdminEmail, "firstName": "Demo", "lastName": "Admin",
			"temporaryPassword": demoTemporary.Reveal(),
		},
	})
	var no *apiError
	if err != nil && !(errors.As(err, &no) && no.Code == "slug_taken") {
		return err
	}
	s.admin, err = s.ownPassword(ctx, demoAdminEmail)
	return err
}

// ownPassword signs in with the temporary password and changes it. After an earlier start it signs in with the changed
// one. The clock may be moved while the data is made, so the client stays signed in.
func (s *demoSeed) ownPassword(ctx context.Context, email string) (apiClient, error) {
	c, must, err := s.client(demoSlug).login(ctx, email, demoTemporary.Reveal())
	if err != nil {
		c, _, err = s.client(demoSlug).login(ctx, email, demoPassword.Reveal())
		return c.staying(email, demoPassword.Reveal()), err
	}
	if must {
		_, err = c.staying(email, demoTemporary.Reveal()).call(ctx, http.MethodPost, "/auth/password", "",
			map[string]string{"currentPassword": demoTemporary.Reveal(), "newPassword": demoPassword.Reveal()})
	}
	return c.staying(email, demoPassword.Reveal()), err
}

// makeStaff adds a user with the role support.
func (s *demoSeed) makeStaff(ctx context.Context) error {
	_, err := s.admin.call(ctx, http.MethodPost, "/users", "demo-support", map[string]string{
		"email": demoSupportEmail, "firstName": "Demo", "lastName": "Support", "role": "support",
		"temporaryPassword": demoTemporary.Reveal(),
	})
	var no *apiError
	if err != nil && !(errors.As(err, &no) && no.Status == http.StatusConflict) {
		return err
	}
	_, err = s.ownPassword(ctx, demoSupportEmail)
	return err
}

// makePlans makes the plans of demoPlans and keeps their ids by code.
func (s *demoSeed) makePlans(ctx context.Context) error {
	for _, p := range demoPlans {
		made, err := s.admin.call(ctx, http.MethodPost, "/plans", "demo-plan-"+p.code, map[string]any{
			"code": p.code, "name": p.name, "kind": p.kind, "price": p.price, "currency": "KES",
			"billing": map[string]string{"mode": p.mode, "period": p.period},
			"rates":   map[string]int{"down": p.down, "up": p.up},
		})
		if err != nil {
			return err
		}
		s.plans[p.code] = made.text("id")
	}
	return nil
}

// makeSubscribers makes the customers of demoCustomers and plays each one's story.
func (s *demoSeed) makeSubscribers(ctx context.Context) error {
	for i, c := range demoCustomers {
		if err := s.makeSubscriber(ctx, i+1, c); err != nil {
			return fmt.Errorf("subscriber %d: %w", i+1, err)
		}
	}
	return nil
}

// makeSubscriber makes the n-th customer with a subscription, then plays the acts of the story in order.
func (s *demoSeed) makeSubscriber(ctx context.Context, n int, c demoCustomer) error {
	key := fmt.Sprintf("demo-subscriber-%d", n)
	phone := demoPhone(n)
	sub, err := s.admin.call(ctx, http.MethodPost, "/subscribers", key, map[string]any{
		"firstName": c.first, "lastName": c.last, "phone": "+" + phone, "tags": []string{c.tag},
	})
	if err != nil {
		return err
	}
	account := demoAccount{
		key: key, phone: phone, subscriber: sub.text("id"), number: sub.text("accountNumber"), price: demoPrice(c.plan),
	}
	if c.plan != "" {
		made, err := s.admin.call(ctx, http.MethodPost, "/subscriptions", key+"-plan", map[string]string{
			"subscriberId": account.subscriber, "planId": s.plans[c.plan], "username": strings.ToLower(c.first),
			"password": demoLogin(strings.ToLower(c.first)),
		})
		if err != nil {
			return err
		}
		account.subscription = made.text("id")
	}
	for _, act := range c.story {
		if err := act(ctx, s, account); err != nil {
			return err
		}
	}
	return nil
}

// makeSuspense lets a stranger pay with a reference that no customer has, and assigns the money to the demo ISP, where
// it waits in suspense.
func (s *demoSeed) makeSuspense(ctx context.Context) error {
	const ref = "HOUSE 12"
	if _, err := s.find(ctx, s.admin, ref); err == nil {
		return nil
	}
	number, err := s.payBill(ctx, demoPhone(99), ref, 850)
	if err != nil {
		return err
	}
	var receipt string
	err = until(ctx, "money in suspense", func(ctx context.Context) (bool, error) {
		receipt, err = s.find(ctx, s.root, number)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	orgs, err := s.root.call(ctx, http.MethodGet, "/orgs", "", nil)
	if err != nil {
		return err
	}
	for _, o := range orgs.list("data") {
		if o.text("slug") == demoSlug {
			_, err = s.root.call(ctx, http.MethodPost, "/receipts/"+receipt+"/assign", "demo-assign",
				map[string]string{"orgId": o.text("id")})
		}
	}
	return err
}

// find gives the id of the receipt in suspense whose number or reference is text. Fails with errNothing when there is
// none.
func (s *demoSeed) find(ctx context.Context, as apiClient, text string) (string, error) {
	page, err := as.call(ctx, http.MethodGet, "/receipts?state=suspense", "", nil)
	if err != nil {
		return "", err
	}
	for _, r := range page.list("data") {
		if r.text("receiptNumber") == text || r.text("billRef") == text {
			return r.text("id"), nil
		}
	}
	return "", errNothing
}

// payBill lets a phone pay the platform's paybill, and tries again until the callback addresses of the shortcode are
// registered.
func (s *demoSeed) payBill(ctx context.Context, phone, ref string, amount int) (receipt string, err error) {
	err = until(ctx, "the paybill's registration", func(ctx context.Context) (bool, error) {
		return paybillRegistered(ctx, s.app.storage.db, s.app.startedAt.Add(-time.Second))
	})
	if err != nil {
		return "", err
	}
	out, err := s.sim.call(ctx, http.MethodPost, "/sim/paybill", "", map[string]any{
		"shortCode": demoShortcode, "msisdn": phone, "amount": amount, "billRefNumber": ref,
	})
	if err == nil && out.text("state") != "completed" {
		err = fmt.Errorf("paybill payment is %s %s", out.text("state"), out.text("resultCode"))
	}
	return out.text("receiptNumber"), err
}

// paybillRegistered reports whether the callback addresses of the platform's paybill were registered with the provider
// after an instant. A job registers them after the start.
func paybillRegistered(ctx context.Context, db *postgres.DB, since time.Time) (bool, error) {
	var done bool
	err := db.Owner.QueryRow(ctx, `select exists (select from `+db.Namespace.Schema("river")+`.river_job
		where kind = $1 and state = 'completed' and finalized_at >= $2)`, commands.RegisterPlatform{}.Kind(),
		since).Scan(&done)
	return done, err
}

// list gives a field that is a list of objects; elements of another kind are left out.
func (a answer) list(field string) []answer {
	items, _ := a[field].([]any)
	out := make([]answer, 0, len(items))
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}

// demoPhone gives the phone of the n-th customer as the provider writes it, without a plus.
func demoPhone(n int) string { return fmt.Sprintf("2547000000%02d", n) }
