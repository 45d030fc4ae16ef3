package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/memory"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/simulators/provider"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// childVariable makes the test program act as `lastmile serve`, or with the value childDemo as `lastmile demo`, for
// tests that kill it; childRoles names its roles, without which it has all.
const (
	childVariable = "LASTMILE_TEST_CHILD"
	childDemo     = "demo"
	childRoles    = "LASTMILE_TEST_CHILD_ROLES"
)

// TestMain runs the tests. With childVariable set it runs `lastmile serve` instead, with dashboardsVariable open pages.
func TestMain(m *testing.M) {
	memory.CollectSeldom(os.Environ(), memory.OfProgram)
	if of := os.Getenv(dashboardsVariable); of != "" {
		if err := runDashboards(of, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	bearFullDisk()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	args := []string{"serve"}
	if os.Getenv(childVariable) == childDemo {
		args = []string{"demo"}
	}
	if of := os.Getenv(childRoles); of != "" {
		args = append(args, "--roles="+of)
	}
	code := program{environ: os.Environ(), out: os.Stdout, err: os.Stderr, readPatience: readPatience}.run(ctx, args)
	stop()
	os.Exit(code)
}

// Users of the tests, and their password.
const (
	testRootEmail  = "root@lastmile.test"
	testAdminEmail = "admin@acme.test"
	testPassword   = "a long enough password"
	testShortcode  = "600200"
)

// patience bounds every wait of a test. It is so long that only a fault reaches it, not a slow machine: when an answer
// comes too late there, the program looks again after a minute, and then after five.
const patience = 7 * time.Minute

// readPatience is how long a request of a test waits for a read model: almost as long as it may take.
const readPatience = 25 * time.Second

// atEnd calls f when the test ends, and lets go of it. The testing package keeps what it was given until the last of
// all tests that go side by side has ended, and with it everything that it refers to: the program of each test.
func atEnd(t testing.TB, f func()) {
	t.Helper()
	t.Cleanup(func() {
		f()
		f = nil
	})
}

// kit is a running program with a simulated provider, and with clients that are signed in.
type kit struct {
	t       testing.TB
	sim     *provider.Simulator
	environ []string
	log     *logBuffer
	db      *postgres.DB      // of the installation, when it is not private
	clock   clock.Clock       // nil = the machine's
	bank    *clock.Movable    // of the provider
	routers *router.Simulator // nil = none
	answers *demoRADIUS       // where customers of the routers sign in; nil = at imaginary servers
	step    func(name string) // between two steps of work on sessions; nil = nobody
	showing time.Duration     // the longest wait of a request for a read model; 0 = readPatience
	foreign netip.AddrPort    // another RADIUS server, which routers find as foreignRADIUS; zero = none
	app     *App
	addr    string
	screen  string     // what the demo has printed
	radius  childPorts // of a child; zero = the program runs in the test's process

	root  apiClient // super_admin on the root host
	admin apiClient // of acme
}

// newKit prepares a database, a provider and a configuration. The program itself does not run yet. settings are
// variables as name=value.
func newKit(t testing.TB, settings ...string) *kit {
	t.Helper()
	db := installed.New(t)
	k := newPrivateKit(t, append([]string{
		"DATABASE_URL=" + db.URL, "DATABASE_NAMESPACE=" + string(db.Namespace), "DATABASE_MAX_CONNS=4",
	}, settings...)...)
	k.db = db
	return k
}

// newPrivateKit is newKit without a database: the program runs a private cluster, in its directory.
func newPrivateKit(t testing.TB, settings ...string) *kit {
	t.Helper()
	bank := clock.NewMovable(clock.System(), 0)
	sim := provider.New(provider.Config{Seed: 7, Clock: bank, Sandbox: true})
	if err := sim.Start(context.Background()); err != nil {
		t.Fatalf("start provider: %v", err)
	}
	atEnd(t, func() { _ = sim.Stop(context.Background()) })
	k := &kit{t: t, sim: sim, bank: bank, log: &logBuffer{}}
	k.environ = append([]string{
		"DATA_DIR=" + dataDir(t), "HTTP_ADDR=127.0.0.1:0", "EVENTSTORE_ADDR=127.0.0.1:0",
		"RADIUS_AUTH_ADDR=127.0.0.1:0", "RADIUS_ACCT_ADDR=127.0.0.1:0",
		"WALLED_GARDEN_ADDR=127.0.0.1:0",
		"SERVICE_DOMAIN=lastmile.test", "LOG_LEVEL=info", "GATEWAY_MODE=test", "PAYMENT_BASE_URL=" + sim.URL(),
		"PAYMENT_CONSUMER_KEY=key", "PAYMENT_CONSUMER_SECRET=secret", "PAYMENT_SHORTCODE=" + testShortcode,
		"PAYMENT_PASSKEY=passkey", "RATE_LIMIT_USER=100000", "RATE_LIMIT_LOGIN=1000", "RATE_LIMIT_WEBHOOK=100000",
	}, settings...)
	atEnd(t, func() {
		if t.Failed() {
			t.Logf("end of the service's log:\n%s", k.log.last(40))
		}
	})
	return k
}

// dataDir gives a directory for a program. Benchmarks write to disk, as an installation does.
func dataDir(t testing.TB) string {
	if _, measures := t.(*testing.B); measures {
		return t.TempDir()
	}
	return pgtest.Dir(t)
}

// config reads the kit's variables as the program would; a fault ends the test.
func (k *kit) config() Config {
	k.t.Helper()
	cfg, err := loadConfig(k.environ)
	if err != nil {
		k.t.Fatalf("configuration: %v", err)
	}
	return cfg
}

// start runs the program inside the test's process until the end of the test.
func (k *kit) start() *kit {
	k.t.Helper()
	logger := slog.New(withoutRequests{slog.NewJSONHandler(k.log, nil)})
	app, err := StartApp(k.t.Context(), k.config(), allRoles, logger, k.options())
	if err != nil {
		k.t.Fatalf("start: %v", err)
	}
	atEnd(k.t, app.Stop)
	k.app, k.addr = app, app.Addr()
	if k.answers != nil {
		if err := k.answers.is(app); err != nil {
			k.t.Fatal(err)
		}
	}
	return k
}

// options gives the kit's clock and dial function to the program.
func (k *kit) options() appOptions {
	opts := appOptions{
		clock: k.clock, betweenSteps: k.step, passwords: vault.Argon2{MemoryKiB: 64, Passes: 1, Threads: 1},
		readPatience: cmp.Or(k.showing, readPatience),
	}
	if k.routers != nil {
		opts.dialRouter = k.routers.Dial
	}
	return opts
}

// signIn makes the super_admin and the organization acme with its admin, and signs both in. The command line, which
// opens all that it needs by itself and hashes as an installation does, is for programs in a process of their own.
func (k *kit) signIn() *kit {
	k.t.Helper()
	if k.app == nil || k.app.engines == nil {
		k.command("admin", "create", "--email", testRootEmail, "--password", testPassword)
	} else if err := addSuperAdmin(k.t.Context(), k.app.engines.bus, k.app.storage.vault, identitycases.SuperAdmin{
		UserID: id.New[id.User](), Email: personal.Of(testRootEmail), FirstName: personal.Of("Platform"),
		LastName: personal.Of("Administrator"), Password: testPassword,
	}); err != nil {
		k.t.Fatal(err)
	}
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.admin = k.organization("acme", testAdminEmail)
	return k
}

// organization makes an organization, gives its admin the password of all test users, and signs the admin in.
func (k *kit) organization(slug, email string) apiClient {
	k.t.Helper()
	k.must(k.root, "POST", "/orgs", map[string]any{"slug": slug, "name": slug, "admin": map[string]string{
		"email": email, "firstName": "Ada", "temporaryPassword": "temporary-1",
	}})
	admin, must := k.login(slug, email, "temporary-1")
	if !must {
		k.t.Errorf("mustChangePassword is false for a temporary password")
	}
	k.must(admin, "POST", "/auth/password", map[string]string{
		"currentPassword": "temporary-1", "newPassword": testPassword,
	})
	return admin
}

// command runs a sub-command with the kit's configuration and gives its output. A failure ends the test.
func (k *kit) command(args ...string) string {
	k.t.Helper()
	var out, errs logBuffer
	if code := (program{environ: k.environ, out: &out, err: &errs}).run(k.t.Context(), args); code != exitOK {
		k.t.Fatalf("lastmile %s: exit code %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// client gives a client for an organization's host, not signed in; slug "" is the root host.
func (k *kit) client(slug string) apiClient {
	host := "lastmile.test"
	if slug != "" {
		host = slug + "." + host
	}
	return apiClient{addr: k.addr, host: host}
}

// login signs a user in at an organization's host; true when the password must be changed first.
func (k *kit) login(slug, email, password string) (apiClient, bool) {
	k.t.Helper()
	return k.signsIn(k.client(slug), email, password)
}

// signsIn signs in at the host of a client. A program that says that it is not served at the moment, as on a machine
// that stood still for a second, is asked again, as a person would.
func (k *kit) signsIn(at apiClient, email, password string) (c apiClient, must bool) {
	k.t.Helper()
	k.served("sign in as "+email, func(ctx context.Context) error {
		var err error
		c, must, err = at.login(ctx, email, password)
		return err
	})
	return c, must
}

// served asks until the program serves it; any other failure ends the test.
func (k *kit) served(what string, ask func(ctx context.Context) error) {
	k.t.Helper()
	k.eventually(what, func(ctx context.Context) (bool, error) {
		err := ask(ctx)
		if no := asAPIError(err); err != nil && (no == nil || no.Status != http.StatusServiceUnavailable) {
			k.t.Fatalf("%s: %v", what, err)
		}
		return err == nil, err
	})
}

// must sends a request that has to succeed, until it is served; any other answer ends the test. What /openapi.json does
// not say of the answer is an error of the test.
func (k *kit) must(c apiClient, method, path string, body any) (out answer) {
	k.t.Helper()
	k.served(method+" "+path, func(ctx context.Context) error {
		var err error
		out, err = c.call(ctx, method, path, "", body)
		return err
	})
	k.described(c.host, method, path, out)
	return out
}

// refused sends a request such as "GET /auth/me", which has to fail with the status and the code; code "" = any.
func (k *kit) refused(c apiClient, call string, body any, status int, code string) {
	k.t.Helper()
	method, path, _ := strings.Cut(call, " ")
	_, err := c.call(k.t.Context(), method, path, "", body)
	no := asAPIError(err)
	if no == nil || no.Status != status || code != "" && no.Code != code {
		k.t.Errorf("%s: got %v, want status %d %s", call, err, status, code)
	}
}

// eventually waits until check gives true. After patience it ends the test; what names the condition.
func (k *kit) eventually(what string, check func(ctx context.Context) (bool, error)) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	if err := until(ctx, what, check); err != nil {
		k.t.Fatalf("%v", err)
	}
}

// caughtUp waits until read models show what the log has now, also what was appended beside the requests of the tests.
func (k *kit) caughtUp(models ...string) {
	k.t.Helper()
	head, err := k.app.storage.store.Head(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	for _, model := range models {
		k.eventually("the end of the log in "+model, func(ctx context.Context) (bool, error) {
			err := k.app.engines.views.WaitFor(ctx, model, head)
			return err == nil, err
		})
	}
}

// all reads all pages of a list.
func (k *kit) all(c apiClient, path string) []answer {
	k.t.Helper()
	glue := "?"
	if strings.Contains(path, "?") {
		glue = "&"
	}
	var rows []answer
	for cursor := ""; ; {
		page := k.must(c, "GET", path+glue+"limit=100"+cursor, nil)
		rows = append(rows, page.list("data")...)
		if page.text("nextCursor") == "" {
			return rows
		}
		cursor = "&cursor=" + page.text("nextCursor")
	}
}

// plan makes a prepaid monthly plan and gives its id. The price is in whole shillings.
func (k *kit) plan(code string, price int) string {
	k.t.Helper()
	return k.must(k.admin, "POST", "/plans", map[string]any{
		"code": code, "name": "Plan " + code, "kind": "pppoe", "price": price, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "month"}, "rates": map[string]int{
			"down": 10000, "up": 5000,
		},
	}).text("id")
}

// subscriber registers a customer with a phone, and gives id and account number.
func (k *kit) subscriber(phone string) (id, account string) {
	k.t.Helper()
	s := k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": "Customer", "lastName": phone[len(phone)-4:], "phone": "+" + phone,
	})
	return s.text("id"), s.text("accountNumber")
}

// paybillReady waits until the callback addresses of the platform's paybill are registered, which a job does after the
// start.
func (k *kit) paybillReady() {
	k.t.Helper()
	db := k.db
	if k.app != nil {
		db = k.app.storage.db
	}
	k.eventually("registration of the paybill", func(ctx context.Context) (bool, error) {
		return paybillRegistered(ctx, db, time.Time{})
	})
}

// pay lets a phone pay the platform's paybill and gives the receipt number. The amount is in whole shillings.
func (k *kit) pay(phone, ref string, amount int) string {
	k.t.Helper()
	out, err := k.simCall("POST", "/sim/paybill", map[string]any{
		"shortCode": testShortcode, "msisdn": phone, "amount": amount, "billRefNumber": ref,
	})
	if err != nil || out.text("state") != "completed" {
		k.t.Fatalf("pay by paybill: %v %v", out, err)
	}
	return out.text("receiptNumber")
}

// simCall sends a request to the control interface of the simulated provider.
func (k *kit) simCall(method, path string, body any) (answer, error) {
	addr := strings.TrimPrefix(k.sim.URL(), "http://")
	return apiClient{addr: addr, host: addr}.call(k.t.Context(), method, path, "", body)
}

// asAPIError finds the refused answer in an error's chain; nil when there is none.
func asAPIError(err error) *apiError {
	for ; err != nil; err = unwrap(err) {
		if no, ok := err.(*apiError); ok { //nolint:errorlint // this is the walk
			return no
		}
	}
	return nil
}

// unwrap gives the error inside err; nil when there is none.
func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok { //nolint:errorlint // this is the walk
		return u.Unwrap()
	}
	return nil
}

// breakerPatience is longer than the first cool-down of a breaker (docs/rules/engine.md#breaker).
const breakerPatience = 31 * time.Second

// withoutRequests keeps the lines about each request out of a test's log.
type withoutRequests struct{ slog.Handler }

// Handle drops lines with the message "request" and passes all others on.
func (w withoutRequests) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "request" && r.Level < slog.LevelWarn {
		return nil
	}
	return w.Handler.Handle(ctx, r)
}

// logBuffer collects the log of a test. Safe for concurrent use.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write appends p; it never fails.
func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String gives the whole text so far.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// last gives the last count lines.
func (b *logBuffer) last(count int) string {
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

// number gives a numeric field as text with two decimals.
func number(a answer, field string) string {
	if v, ok := a[field].(float64); ok {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprint(a[field])
}

// statusOf gives the status of a GET request, 200 for any success; 0 without an answer.
func (k *kit) statusOf(c apiClient, path string) int {
	_, err := c.call(k.t.Context(), http.MethodGet, path, "", nil)
	if no := asAPIError(err); no != nil {
		return no.Status
	}
	if err != nil {
		return 0
	}
	return http.StatusOK
}
