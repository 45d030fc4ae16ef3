package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
)

// fullVariable makes a child begin with a full disk: it may write no more octets into any file than this says.
const fullVariable = "LASTMILE_TEST_FILE_SIZE"

// bearFullDisk lets this process get an error, as from a disk that is full, where its files may not grow any more.
// Without it the system would end the process.
func bearFullDisk() {
	signal.Ignore(syscall.SIGXFSZ)
	if octets, err := strconv.ParseUint(os.Getenv(fullVariable), 10, 63); err == nil {
		_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: octets, Max: unix.RLIM_INFINITY})
	}
}

// fill lets the child write no more octets into any file than this, from now on; unix.RLIM_INFINITY = there is room.
func (c *child) fill(octets uint64) {
	c.t.Helper()
	limit := unix.Rlimit{Cur: octets, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(c.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		c.t.Fatal(err)
	}
}

// fullDisk is a program with customers of each kind of journal.
type fullDisk struct {
	*kit
	program  *child
	ours     connection
	class    []byte
	account  string
	code     string // of a voucher
	paid     int    // in whole shillings, by paybill
	receipts int
	sessions int
}

// TestDisks_AFullOneRefusesAndLosesNothing: the disk of the journals is full while PostgreSQL is away. A callback is
// answered that it is not kept, a router gets no answer to its reports, and customers sign in. The program is killed
// and starts while the disk is full. What was acknowledged before is there afterwards, and what was refused when it is
// sent again, each once.
func TestDisks_AFullOneRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	d := newFullDisk(t, "DATABASE_URL="+cluster.URL())
	stopCluster(t, cluster)
	d.pays(http.StatusOK)
	d.reports(true)
	var refused []string
	for _, octets := range []uint64{600, 0, 800} { // nothing is written, and a report is cut off
		d.program.fill(octets)
		refused = append(refused, d.pays(http.StatusServiceUnavailable))
		d.reports(false)
		d.signsIn()
	}
	voucher := rfc2865.Class_Get(d.typeCode("02-00-00-00-00-01", d.code))
	d.program.kill9()

	d.environ = append(d.environ, fullVariable+"=0")
	d.program = d.launch(d.addr)
	d.eventually("the listener", func(context.Context) (bool, error) {
		return d.statusOf(d.client(""), "/readyz") == http.StatusServiceUnavailable, nil
	})
	refused = append(refused, d.pays(http.StatusServiceUnavailable))
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.ready()
	d.pays(http.StatusOK) // PostgreSQL takes it
	d.reports(true)
	d.signsIn()
	d.count()

	d.program.fill(unix.RLIM_INFINITY)
	stopCluster(t, cluster)
	for _, receipt := range refused {
		d.sim.Resend(receipt)
		d.answered(receipt, http.StatusOK)
		d.receipts++
		d.paid += 100
	}
	d.reports(true)
	d.report(connection{secret: "secret-of-cafe", username: d.code}, voucher, told{
		session: "91000001", mac: "02-00-00-00-00-01", status: rfc2866.AcctStatusType_Value_Start,
	})
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.ready()
	d.count()
	d.eventually("the voucher to be in use", func(ctx context.Context) (bool, error) {
		page, err := d.admin.call(ctx, "GET", "/vouchers?state=active", "", nil)
		return len(page.list("data")) == 2, fmt.Errorf("%w: %v", err, page)
	})
}

// TestDisks_AFullOneKeepsNoProgramFromStarting: in production, where a start writes more files. The program is killed
// and starts again.
func TestDisks_AFullOneKeepsNoProgramFromStarting(t *testing.T) {
	t.Parallel()
	k := inProduction(t)
	k.environ = append(k.environ, fullVariable+"=0")
	for range 2 {
		program := k.spawn(freePort(t))
		if log := k.log.String(); !strings.Contains(log, "other commands do not reach the event store") ||
			!strings.Contains(log, "other commands do not find this program") {
			t.Errorf("the disk is not full: %s", log)
		}
		program.kill9()
		if left, err := filepath.Glob(filepath.Join(k.config().DataDir, ".*")); len(left) > 0 || err != nil {
			t.Errorf("the start leaves %v, %v", left, err)
		}
	}
}

// newFullDisk starts the program, whose disk has room.
func newFullDisk(t *testing.T, settings ...string) *fullDisk {
	t.Helper()
	k, program := newKit(t).withVouchers(settings...)
	d := &fullDisk{kit: k, program: program, receipts: 1} // the cash of the first sign-in
	d.eventually("registration of the paybill", func(context.Context) (bool, error) {
		return d.sim.Registered(testShortcode), nil
	})
	d.ours = d.connect(d.admin, "secret-of-acme", "amina")
	d.class = d.signedIn(d.admin, d.ours)
	d.account = d.must(d.admin, "GET", "/subscribers/"+d.ours.subscriber, nil).text("accountNumber")
	d.code = d.sellVoucher()
	return d
}

// pays lets the customer pay 100 by paybill, gives the receipt number, and waits for the answer to the callback.
func (d *fullDisk) pays(status int) string {
	d.t.Helper()
	receipt := d.pay("254711000077", d.account, 100)
	d.answered(receipt, status)
	if status == http.StatusOK {
		d.receipts++
		d.paid += 100
	}
	return receipt
}

// answered waits until the last callback about a receipt has the answer.
func (d *fullDisk) answered(receipt string, status int) {
	d.t.Helper()
	d.eventually("the answer to the callback", func(context.Context) (bool, error) {
		last := 0
		for _, one := range d.sim.Deliveries() {
			if one.ID == receipt {
				last = one.Status
			}
		}
		return last == status, fmt.Errorf("answered %d, want %d", last, status)
	})
}

// reports tells of a session that is over. A router whose report is not acknowledged sends it again.
func (d *fullDisk) reports(acknowledged bool) {
	d.t.Helper()
	session := told{
		session: fmt.Sprintf("81%06x", d.sessions), mac: "AA-BB-CC-00-11-22",
		status: rfc2866.AcctStatusType_Value_Stop, online: time.Minute, down: 1000, up: 10,
	}
	if acknowledged {
		d.report(d.ours, d.class, session)
		d.sessions++
		return
	}
	ctx, cancel := context.WithTimeout(d.t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := radius.Exchange(ctx, d.reportOf(d.ours, d.class, session), d.acctAddr()); err == nil {
		d.t.Error("a report was acknowledged that is nowhere")
	}
}

// signsIn lets the customer sign in.
func (d *fullDisk) signsIn() {
	d.t.Helper()
	if got := d.dial(d.ours.secret, d.ours.username, d.ours.password); got.Code != radius.CodeAccessAccept {
		d.t.Errorf("the sign-in was answered %v", got.Code)
	}
}

// ready waits until the program is, and signs the administrator in.
func (d *fullDisk) ready() {
	d.t.Helper()
	d.eventually("service to be ready", func(context.Context) (bool, error) {
		return d.statusOf(d.client(""), "/readyz") == http.StatusOK, nil
	})
	d.eventually("the administrator to sign in", func(ctx context.Context) (bool, error) {
		var err error // connections of before the outage fail once
		d.admin, _, err = d.client("acme").login(ctx, testAdminEmail, testPassword)
		return err == nil, err
	})
}

// count checks that everything that was acknowledged is there, and once.
func (d *fullDisk) count() {
	d.t.Helper()
	about := "/subscribers/" + d.ours.subscriber
	rows := func(path string, want int) {
		d.t.Helper()
		d.eventually("rows of "+path, func(ctx context.Context) (bool, error) {
			page, err := d.admin.call(ctx, "GET", path+"?limit=100&subscriberId="+d.ours.subscriber, "", nil)
			found := len(page.list("data"))
			return err == nil && found == want, fmt.Errorf("%d of %d: %w", found, want, err)
		})
	}
	rows("/receipts", d.receipts)
	rows("/sessions", d.sessions)
	d.eventually("the use", func(ctx context.Context) (bool, error) {
		usage, err := d.admin.call(ctx, "GET", about+"/usage?step=month", "", nil)
		used := 0.0
		for _, month := range usage.list("data") {
			octets, _ := month["bytesIn"].(float64)
			used += octets
		}
		return err == nil && used == float64(1000*d.sessions), fmt.Errorf("used %v by %d: %w", used, d.sessions, err)
	})
	d.eventually("the balance", func(ctx context.Context) (bool, error) {
		s, err := d.admin.call(ctx, "GET", about, "", nil)
		return number(s, "balance") == fmt.Sprintf("%d.00", -d.paid), fmt.Errorf("%w %v", err, s)
	})
}
