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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/simulators/acs"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/simulators/terminals"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// seededName is the file in DATA_DIR that marks the demo's data as complete.
const seededName = "demo-seeded"

// seededMark is its content. The number grows when the demo needs other data than the one before it made: routers that
// are registered in another way, customers with other passwords.
const seededMark = "The demo's data is complete, version 4.\n"

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
	app       *App
	out       io.Writer
	root      apiClient
	admin     apiClient
	sim       apiClient
	acs       *acs.Simulator
	olt       *terminals.Simulator
	plans     map[string]string // ids by code
	customers []demoCustomer
	routers   []demoRouter
	inYear    bool // what follows from an act is awaited later, with that of the others of the day

	mu       sync.Mutex
	accounts map[string]demoAccount // by username; guarded by mu
}

// newDemoSeed knows what the demo has: with a year of history, customers and a router more.
func newDemoSeed(a *App, out io.Writer, noYear bool) *demoSeed {
	s := &demoSeed{
		app: a, out: out, plans: map[string]string{}, customers: slices.Clone(presentCustomers),
		routers: routersOfDemo(noYear), accounts: map[string]demoAccount{},
	}
	if noYear {
		for i := range s.customers {
			s.customers[i].since = 0
		}
		return s
	}
	s.customers = append(s.customers, pastCustomers...)
	return s
}

// with gives the simulators of customers' devices and of their optical ends.
func (s *demoSeed) with(boxes *acs.Simulator, olt *terminals.Simulator) *demoSeed {
	s.acs, s.olt = boxes, olt
	return s
}

// seeded reports whether the demo's data in a directory is complete.
func seeded(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, seededName))
	return err == nil
}

// run makes the demo's data at the first start, and plugs the routers in at every start. A clock that is behind the
// machine's makes a year of history.
func (s *demoSeed) run(ctx context.Context, routers *router.Simulator) error {
	if seeded(s.app.cfg.DataDir) {
		s.olt.Register(demoONU.ONU)
		if err := s.plugBoxes(); err != nil {
			return err
		}
		var err error
		if s.admin, err = s.ownPassword(ctx, demoAdminEmail); err != nil {
			return nil //nolint:nilerr // somebody changed the password: the routers stay unplugged
		}
		return s.plugRouters(ctx, routers, true)
	}
	_, _ = fmt.Fprintln(s.out, "Making the demo ISP ...")
	steps := []func(context.Context) error{
		s.signIn, s.makeISP, s.makeStaff, s.makePlans, s.paybillReady,
		func(ctx context.Context) error { return s.makeLife(ctx, routers) },
		s.makeBoxes, s.makeTests, s.makePortal, s.makeSupport, s.makeFirmware,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(s.app.cfg.DataDir, seededName), []byte(seededMark), 0o600)
}

// makeLife makes customers and routers: in a year when the clock is behind the machine's, otherwise all at once.
func (s *demoSeed) makeLife(ctx context.Context, routers *router.Simulator) error {
	if c, ok := s.app.clock.(*clock.Movable); ok && c.Ahead() < 0 {
		s.inYear = true
		return s.playYear(ctx, c, routers)
	}
	for i, c := range s.customers {
		if err := s.makeSubscriber(ctx, i+1, c); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{s.makeSuspense, s.makeRouters} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return s.plugRouters(ctx, routers, true)
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
		"slug": demoSlug, "name": "Demo Networks", "timezone": demoZone, "currency": "KES", "country": "KE",
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
	return s.makeUser(ctx, demoUser{email: demoSupportEmail, first: "Demo", last: "Support", role: "support"})
}

// demoUser is somebody of the ISP's staff.
type demoUser struct{ email, first, last, role string }

// makeUser adds a user, who chooses a password.
func (s *demoSeed) makeUser(ctx context.Context, u demoUser) error {
	_, err := s.admin.call(ctx, http.MethodPost, "/users", "demo-user-"+u.email, map[string]string{
		"email": u.email, "firstName": u.first, "lastName": u.last, "role": u.role,
		"temporaryPassword": demoTemporary.Reveal(),
	})
	var no *apiError
	if err != nil && !(errors.As(err, &no) && no.Status == http.StatusConflict) {
		return err
	}
	_, err = s.ownPassword(ctx, u.email)
	return err
}

// makePlans makes the plans of demoPlans and keeps their ids by code.
func (s *demoSeed) makePlans(ctx context.Context) error {
	made, err := s.all(ctx, "/plans") // by an interrupted start
	if err != nil {
		return err
	}
	for _, p := range made {
		s.plans[p.text("code")] = p.text("id")
	}
	for _, p := range demoPlans {
		if s.plans[p.code] != "" {
			continue
		}
		plan := map[string]any{
			"code": p.code, "name": p.name, "kind": p.kind, "price": p.price, "currency": "KES",
			"billing": map[string]string{"mode": p.mode, "period": p.period},
			"rates":   map[string]int{"down": p.down, "up": p.up},
		}
		if p.capGB > 0 {
			plan["cap"] = map[string]any{
				"bytes": p.capGB * 1_000_000_000, "period": "month", "then": "throttle",
				"throttle": map[string]int{"down": p.down / 10, "up": p.up / 10},
			}
		}
		made, err := s.admin.call(ctx, http.MethodPost, "/plans", "demo-plan-"+p.code, plan)
		if err != nil {
			return err
		}
		s.plans[p.code] = made.text("id")
	}
	return nil
}

// user is the customer's username on the network.
func (c demoCustomer) user() string { return strings.ToLower(c.first) }

// account gives what acts need of the n-th customer, whose subscriber is sub. It has no subscription yet.
func (c demoCustomer) account(n int, sub answer) demoAccount {
	return demoAccount{
		key: demoKey + strconv.Itoa(n), user: c.user(), phone: demoPhone(n), subscriber: sub.text("id"),
		number: sub.text("accountNumber"), price: planOf(c.plan).price,
	}
}

// makeSubscriber makes the n-th customer with a subscription. One who comes today plays the acts of the story in order;
// another one makes the first payment.
func (s *demoSeed) makeSubscriber(ctx context.Context, n int, c demoCustomer) error {
	account, err := s.signUp(ctx, n, c)
	if err != nil {
		return fmt.Errorf("subscriber %d: %w", n, err)
	}
	story := c.story
	if c.since > 0 {
		story = []demoAct{c.pays.by}
	}
	if c.since > 0 && planOf(c.plan).mode == "postpaid" {
		story = nil
	}
	for _, act := range story {
		if err := act(ctx, s, account); err != nil {
			return fmt.Errorf("subscriber %d: %w", n, err)
		}
	}
	return nil
}

// signUp makes a customer with a subscription, as far as an interrupted start has not.
func (s *demoSeed) signUp(ctx context.Context, n int, c demoCustomer) (demoAccount, error) {
	s.mu.Lock()
	account, known := s.accounts[c.user()]
	s.mu.Unlock()
	if !known {
		sub, err := s.admin.call(ctx, http.MethodPost, "/subscribers", demoKey+strconv.Itoa(n),
			map[string]any{
				"firstName": c.first, "lastName": c.last, "phone": "+" + demoPhone(n), "tags": []string{c.tag},
			})
		if err != nil {
			return demoAccount{}, err
		}
		account = c.account(n, sub)
	}
	made, err := s.admin.call(ctx, http.MethodPost, "/subscriptions", account.key+"-plan", map[string]string{
		"subscriberId": account.subscriber, "planId": s.plans[c.plan], "username": c.user(),
		"password": demoLogin(c.user()),
	})
	account.subscription = made.text("id")
	s.mu.Lock()
	s.accounts[c.user()] = account
	s.mu.Unlock()
	return account, err
}

// makeSuspense lets a stranger pay with a reference that no customer has.
func (s *demoSeed) makeSuspense(ctx context.Context) error {
	_, err := s.suspense(ctx, demoPhone(99), "HOUSE 12", 850)
	return err
}

// suspense is a payment with a reference that no customer has. It assigns the money to the demo ISP, where it waits in
// suspense, and gives the id of the receipt; "" when an interrupted start has done so before.
func (s *demoSeed) suspense(ctx context.Context, phone, ref string, amount int) (receipt string, err error) {
	if _, err := s.find(ctx, s.admin, ref); err == nil {
		return "", nil
	}
	number, err := s.payBill(ctx, phone, ref, amount)
	if err != nil {
		return "", err
	}
	err = until(ctx, "money in suspense", func(ctx context.Context) (bool, error) {
		receipt, err = s.find(ctx, s.root, number)
		return err == nil, err
	})
	if err != nil {
		return "", err
	}
	orgs, err := s.root.call(ctx, http.MethodGet, "/orgs", "", nil)
	if err != nil {
		return "", err
	}
	for _, o := range orgs.list("data") {
		if o.text("slug") == demoSlug {
			_, err = s.root.call(ctx, http.MethodPost, "/receipts/"+receipt+"/assign", "demo-assign-"+receipt,
				map[string]string{"orgId": o.text("id")})
		}
	}
	return receipt, err
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

// paybillReady waits until the callback addresses of the platform's paybill are registered, which a job does at every
// start.
func (s *demoSeed) paybillReady(ctx context.Context) error {
	return until(ctx, "the paybill's registration", func(ctx context.Context) (bool, error) {
		return paybillRegistered(ctx, s.app.storage.db, s.app.startedAt.Add(-time.Second))
	})
}

// payBill lets a phone pay the platform's paybill.
func (s *demoSeed) payBill(ctx context.Context, phone, ref string, amount int) (receipt string, err error) {
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
