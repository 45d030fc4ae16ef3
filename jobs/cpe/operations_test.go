package cpejobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// errLost stands for an answer that did not come.
var errLost = errors.New("the connection broke")

// server answers as a test says, and notes what it is asked.
type server struct {
	asked   []string
	sent    []cpejobs.Write
	looked  []cpejobs.Write
	lose    int // so many answers of Send are lost
	has     bool
	outcome cpejobs.Outcome
}

// Send implements cpejobs.Server.
func (s *server) Send(_ context.Context, w cpejobs.Write) (cpejobs.Outcome, error) {
	s.asked, s.sent = append(s.asked, "send"), append(s.sent, w)
	if s.lose > 0 {
		s.lose--
		return cpejobs.Outcome{}, errLost
	}
	return s.outcome, nil
}

// Find implements cpejobs.Server.
func (s *server) Find(_ context.Context, w cpejobs.Write) (bool, cpejobs.Outcome, error) {
	s.asked = append(s.asked, "find")
	return s.has, s.outcome, nil
}

// Outcome implements cpejobs.Server.
func (s *server) Outcome(_ context.Context, w cpejobs.Write) (cpejobs.Outcome, error) {
	s.asked, s.looked = append(s.asked, fmt.Sprint("outcome of ", len(w.Tasks))), append(s.looked, w)
	return s.outcome, nil
}

// Withdraw implements cpejobs.Server.
func (s *server) Withdraw(_ context.Context, w cpejobs.Write) (bool, error) {
	s.asked = append(s.asked, fmt.Sprint("withdraw ", len(w.Tasks)))
	return s.has, nil
}

// Store implements cpejobs.Server.
func (*server) Store(context.Context, commands.RecordCpeFirmware, []byte) error { return nil }

// Ready implements cpejobs.Server.
func (*server) Ready() error { return nil }

// operated has a queued operation on a CPE of an organization, and the jobs that go on with it.
type operated struct {
	*coretest.Kit
	t      *testing.T
	views  *runner.Views
	server *server
	owner  id.Organization // of the CPE, as the read model has it
	user   id.Subscriber   // the same
	// The login that the customer has by now.
	username, password string
	work               commands.CpeWork
	jobs               cpejobs.Operations
}

// operate queues an operation with a password.
func operate(t *testing.T, kind events.CpeOperationKind) *operated {
	t.Helper()
	o := &operated{
		Kit: coretest.NewWithVault(t, vault.Config{Clock: clock.System()}, cpeviews.Operations{},
			cpeviews.Firmware{}, cpeviews.Campaigns{}), t: t,
		server: &server{outcome: cpejobs.Outcome{
			Call: "ok", Tasks: []events.CpeTask{{ID: "5403908ef28ea3a25c138adc", Name: "setParameterValues"}},
		}},
	}
	bus.Register(o.Bus, cpe.CPEs())
	bus.Register(o.Bus, cpe.Operations())
	bus.Register(o.Bus, cpe.FirmwareFiles())
	bus.Register(o.Bus, cpe.Campaigns())
	o.views = o.Show(t)
	o.owner = id.New[id.Organization]()
	o.work = commands.CpeWork{
		OperationID: id.New[id.CPEOperation](), CpeID: id.New[id.CPE](), OrgID: o.owner, Operation: kind,
		ValuesRef: id.New[id.Secret](), CallNow: true,
	}
	o.jobs = cpejobs.Operations{
		Bus: o.Bus, Rows: cpeviews.OperationsQuery{Views: o.views}, Values: o.Vault.Secrets.Get,
		Drop: o.Vault.Secrets.Delete, Server: o.server, Uploads: cpejobs.Uploads{Informs: informsOf(t)},
		Password: func(context.Context, id.Secret) (string, error) { return o.password, nil },
		Clock:    clock.System(),
		Files:    cpeviews.FirmwareQuery{Views: o.views}, Campaigns: cpeviews.CampaignsQuery{Views: o.views},
		CPE: func(context.Context, id.CPE) (*cpeviews.CPERow, error) {
			return &cpeviews.CPERow{
				ID: o.work.CpeID, OrgID: o.owner, SubscriberID: o.user, SerialNumber: "SN-1", OUI: "00AABB",
				Username: &o.username,
			}, nil
		},
	}
	secret := vault.Secret{Ref: o.work.ValuesRef, OrgID: o.owner, Purpose: commands.CpeValuesPurpose}
	values := `{"ssid":"home","username":"jane","password":"s3cret"}`
	if err := o.Vault.Secrets.Put(t.Context(), secret, []byte(values)); err != nil {
		t.Fatal(err)
	}
	o.Run(t, coretest.Operator(o.owner), commands.QueueCpeOperation{
		OperationID: o.work.OperationID, CpeID: o.work.CpeID, OrgID: o.owner, Kind: kind, ValuesRef: o.work.ValuesRef,
		CallNow: true,
	})
	return o
}

// send does the job of sending, under its own id or under that of an earlier try.
func (o *operated) send(job id.Any) error {
	return o.jobs.Send(o.t.Context(), commands.SendCpeOperation{CpeWork: o.work}, jobs.Cause{JobID: job})
}

// is fails unless the operation is in a state, and the server was asked so.
func (o *operated) is(want cpe.OperationState, asked ...string) {
	o.t.Helper()
	got, _, err := bus.LoadOwned[cpe.Operation](o.t.Context(), o.Bus, o.work.OrgID, o.work.OperationID)
	if err != nil || got.State != want || strings.Join(o.server.asked, ", ") != strings.Join(asked, ", ") {
		o.t.Errorf("%s after %v, want %s after %v (%v)", got.State, o.server.asked, want, asked, err)
	}
}

func TestSend_HandsTheValuesOverOnce(t *testing.T) {
	t.Parallel()
	o := operate(t, events.CpeWifi)
	for range 2 { // the second job finds it sent
		if err := o.send(id.New[id.Any]()); err != nil {
			t.Fatal(err)
		}
		o.server.has = true
	}
	o.is(cpe.Sent, "send", "find")
	got := o.server.sent[0]
	if got.Values.Password != "s3cret" || got.CPE.SerialNumber != "SN-1" || got.Key != o.work.OperationID.String() {
		t.Errorf("sent %+v", got)
	}
	if text := fmt.Sprintf("%v %+v %#v", got.Values, got, got.Values); strings.Contains(text, "s3cret") {
		t.Errorf("a text has the password: %s", text)
	}
}

// TestSend_AfterALostAnswerSettingsAreSentAgainAndRestartsAreNot, unless the server is found to have them.
func TestSend_AfterALostAnswerSettingsAreSentAgainAndRestartsAreNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  events.CpeOperationKind
		has   bool
		want  cpe.OperationState
		asked []string
	}{
		{events.CpeWifi, false, cpe.Sent, []string{"send", "find", "send"}},
		{events.CpeWifi, true, cpe.Sent, []string{"send", "find"}},
		{events.CpeFactoryReset, false, cpe.Failed, []string{"send", "find"}},
		{events.CpeFactoryReset, true, cpe.Sent, []string{"send", "find"}},
		{events.CpeReboot, false, cpe.Failed, []string{"send", "find"}},
	} {
		o, job := operate(t, c.kind), id.New[id.Any]()
		o.server.lose = 1
		if err := o.send(job); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		o.server.has = c.has
		if err := o.send(job); err != nil {
			t.Fatal(err)
		}
		o.is(c.want, c.asked...)
	}
}

// TestSend_ARefusalIsAnOutcome, and an operation that has ended is not sent.
func TestSend_ARefusalIsAnOutcome(t *testing.T) {
	t.Parallel()
	o := operate(t, events.CpeWifi)
	o.server.outcome = cpejobs.Outcome{Code: "cwmp.9007", Message: strings.Repeat("no", 500)}
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Failed, "send")
	if err := o.Vault.Secrets.Delete(t.Context(), o.work.ValuesRef); err != nil {
		t.Fatal(err)
	}
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Failed, "send")
}

// TestSend_NothingGoesToTheDeviceOfAnotherOrganization: it was released after the request, and perhaps claimed.
func TestSend_NothingGoesToTheDeviceOfAnotherOrganization(t *testing.T) {
	t.Parallel()
	for _, owner := range []id.Organization{{}, id.New[id.Organization]()} {
		o := operate(t, events.CpeWifi)
		o.owner = owner
		if err := o.send(id.New[id.Any]()); err != nil {
			t.Fatal(err)
		}
		o.is(cpe.Failed)
	}
}

// TestSend_LostValuesAreNotWrittenAsEmptyOnes: the operation fails instead.
func TestSend_LostValuesAreNotWrittenAsEmptyOnes(t *testing.T) {
	t.Parallel()
	o := operate(t, events.CpeWifi)
	if err := o.Vault.Secrets.Delete(t.Context(), o.work.ValuesRef); err != nil {
		t.Fatal(err)
	}
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Failed)
}

// TestSend_ALoginOfYesterdayIsNotWritten: another operation writes the one of today, and may have done so already.
func TestSend_ALoginOfYesterdayIsNotWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		username, password string
		want               cpe.OperationState
		asked              []string
	}{
		{"jane", "s3cret", cpe.Sent, []string{"send"}}, {"jane2", "s3cret", cpe.Failed, nil},
		{"jane", "another", cpe.Failed, nil}, {"", "", cpe.Failed, nil},
	} {
		o := operate(t, events.CpeLogin)
		o.username, o.password = c.username, c.password
		if err := o.send(id.New[id.Any]()); err != nil {
			t.Fatal(err)
		}
		o.is(c.want, c.asked...)
	}
}

// informsOf opens the tables of the area.
func informsOf(t *testing.T) *cpejobs.Informs {
	t.Helper()
	informs, _ := open(t)
	return informs
}

// TestCheck_WhatATestHasMeasuredIsKept, and of an upload to the platform what has come there; it is dropped at the end.
func TestCheck_WhatATestHasMeasuredIsKept(t *testing.T) {
	t.Parallel()
	o := operate(t, events.CpeUploadTest)
	if err := o.jobs.Uploads.Count(t.Context(), o.work.OperationID, 5); err != nil {
		t.Fatal(err)
	}
	if err := o.jobs.Uploads.Count(t.Context(), o.work.OperationID, 4000); err != nil { // the device has tried again
		t.Fatal(err)
	}
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	o.server.outcome = cpejobs.Outcome{Done: true, Result: &events.CpeTestResult{Bytes: 4000, BitsPerSecond: 32_000}}
	o.WaitForAll(t, o.views, cpeviews.OperationsName)
	err := o.jobs.Check(t.Context(), commands.CheckCpeOperation{CpeWork: o.work}, jobs.Cause{JobID: id.New[id.Any]()})
	if err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Confirmed, "send", "outcome of 1")
	o.WaitForAll(t, o.views, cpeviews.OperationsName)
	latest, history, err := o.jobs.Rows.Measured(t.Context(), o.owner, o.work.CpeID, 10)
	want := events.CpeTestResult{Bytes: 4000, BitsPerSecond: 32_000, ReceivedBytes: 4000}
	if err != nil || len(latest) != 1 || len(history) != 1 || *latest[0].Result != want {
		t.Errorf("measured %v and %v (%v)", latest, history, err)
	}
	if err := o.jobs.Uploads.Forget(t.Context(), o.work.OperationID); err != nil {
		t.Fatal(err)
	}
	if n, err := o.jobs.Uploads.Received(t.Context(), o.work.OperationID); n != 0 || err != nil {
		t.Errorf("%d bytes are left (%v)", n, err)
	}
}

func TestCheck_ReportsTheOutcomeOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found cpejobs.Outcome
		want  cpe.OperationState
	}{
		{cpejobs.Outcome{}, cpe.Sent}, {cpejobs.Outcome{Done: true}, cpe.Confirmed},
		{cpejobs.Outcome{Code: "cwmp.9003", Message: "no"}, cpe.Failed},
	} {
		o := operate(t, events.CpeWifi)
		check := func() {
			o.WaitForAll(t, o.views, cpeviews.OperationsName)
			err := o.jobs.Check(t.Context(), commands.CheckCpeOperation{CpeWork: o.work}, jobs.Cause{
				JobID: id.New[id.Any](),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		check() // it was not sent yet: nobody is asked
		if err := o.send(id.New[id.Any]()); err != nil {
			t.Fatal(err)
		}
		o.server.outcome = c.found
		check()
		o.is(c.want, "send", "outcome of 1")
	}
}

// TestCheck_TasksThatWaitForTheDeviceOfAnotherOrganizationAreTakenAway: it was released after they were sent.
func TestCheck_TasksThatWaitForTheDeviceOfAnotherOrganizationAreTakenAway(t *testing.T) {
	t.Parallel()
	o := operate(t, events.CpeWifi)
	if err := o.send(id.New[id.Any]()); err != nil {
		t.Fatal(err)
	}
	o.WaitForAll(t, o.views, cpeviews.OperationsName)
	o.owner = id.New[id.Organization]()
	err := o.jobs.Check(t.Context(), commands.CheckCpeOperation{CpeWork: o.work}, jobs.Cause{JobID: id.New[id.Any]()})
	if err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Failed, "send", "withdraw 1")
}

// deploys makes the operation one of a campaign with a file of firmware.
func (o *operated) deploys() {
	o.t.Helper()
	file := commands.CpeFirmwareUpload{
		FirmwareID: commands.CpeFirmwareOf(o.owner, "box.bin"), OrgID: o.owner, File: events.CpeFirmwareFile{
			Filename: "box.bin", OUI: "00AABB", Version: "2.0", Bytes: 1, SHA256: strings.Repeat("ab", 32),
		},
	}
	campaign := id.New[id.CPECampaign]()
	o.work.OperationID, o.work.Operation, o.work.ValuesRef = id.New[id.CPEOperation](), events.CpeFirmware, id.Secret{}
	o.work.Deployed = &events.CpeDeployed{
		CampaignID: campaign, FirmwareID: file.FirmwareID, BeginBy: time.Now().Add(time.Hour),
	}
	for _, c := range []commands.Command{commands.BeginCpeFirmware{
		CpeFirmwareUpload: file, Place: 1,
	}, commands.RecordCpeFirmware{CpeFirmwareUpload: file}, commands.StartCpeCampaign{
		CampaignID: campaign, OrgID: o.owner, FirmwareID: file.FirmwareID, Filename: "box.bin", Version: "2.0",
		Model: "Box", CpeIDs: []id.CPE{o.work.CpeID}, Terms: events.CpeCampaignTerms{
			AtOnce: 1, Timezone: "UTC", Deadline: o.work.Deployed.BeginBy,
		},
	}, commands.QueueCpeOperation{
		OperationID: o.work.OperationID, CpeID: o.work.CpeID, OrgID: o.owner, Kind: events.CpeFirmware,
		Deployed: o.work.Deployed,
	}} {
		o.Run(o.t, coretest.Operator(o.owner), c)
	}
	o.WaitForAll(o.t, o.views, cpeviews.FirmwareName)
	o.WaitForAll(o.t, o.views, cpeviews.CampaignsName)
}

// TestSend_FirmwareIsSentOnce: after a lost answer the device's version tells what became of it.
func TestSend_FirmwareIsSentOnce(t *testing.T) {
	t.Parallel()
	o, job := operate(t, events.CpeReboot), id.New[id.Any]()
	o.deploys()
	o.server.lose = 1
	if err := o.send(job); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	for range 2 {
		if err := o.send(job); err != nil {
			t.Fatal(err)
		}
	}
	o.is(cpe.Sent, "send", "find", "find")
	if w := o.server.sent[0]; w.Image.Version != "2.0" || !strings.HasSuffix(w.Image.File, "-box.bin") || !w.Going {
		t.Errorf("sent %+v", w)
	}
	o.WaitForAll(t, o.views, cpeviews.OperationsName)
	o.server.outcome = cpejobs.Outcome{Done: true}
	err := o.jobs.Check(t.Context(), commands.CheckCpeOperation{CpeWork: o.work}, jobs.Cause{JobID: id.New[id.Any]()})
	if err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Confirmed, "send", "find", "find", "outcome of 0")
}

// TestSend_NothingOfAHaltedCampaignIsSent, nor what was to begin by an instant that has passed.
func TestSend_NothingOfAHaltedCampaignIsSent(t *testing.T) {
	t.Parallel()
	for _, halted := range []bool{true, false} {
		o := operate(t, events.CpeReboot)
		o.deploys()
		if halted {
			o.Run(t, coretest.Operator(o.owner), commands.HaltCpeCampaign{CampaignID: o.work.Deployed.CampaignID})
			o.WaitForAll(t, o.views, cpeviews.CampaignsName)
		} else {
			o.work.Deployed.BeginBy = time.Now().Add(-time.Second)
		}
		if err := o.send(id.New[id.Any]()); err != nil {
			t.Fatal(err)
		}
		o.is(cpe.Failed)
	}
}

// TestSend_WhatMayHaveBeenSentIsTakenBackFirst: the answer of the first attempt was lost, and the second one finds that
// the operation is not to be done any more. Firmware that does not wait at the server may be on its way.
func TestSend_WhatMayHaveBeenSentIsTakenBackFirst(t *testing.T) {
	t.Parallel()
	late := func(o *operated) { o.work.Deployed.BeginBy = time.Now().Add(-time.Second) }
	released := func(o *operated) { o.owner = id.New[id.Organization]() }
	for _, c := range []struct {
		kind events.CpeOperationKind
		then func(*operated)
		has  bool
		want cpe.OperationState
	}{
		{events.CpeFirmware, late, true, cpe.Failed}, {events.CpeFirmware, late, false, cpe.Sent},
		{events.CpeFirmware, released, true, cpe.Failed}, {events.CpeWifi, released, true, cpe.Failed},
		{events.CpeWifi, released, false, cpe.Failed}, {events.CpeFactoryReset, released, true, cpe.Failed},
		{events.CpeLogin, func(o *operated) { o.password = "another" }, true, cpe.Failed},
		{events.CpeWifi, func(o *operated) {
			if err := o.Vault.Secrets.Delete(t.Context(), o.work.ValuesRef); err != nil {
				t.Fatal(err)
			}
		}, true, cpe.Failed},
	} {
		o, job := operateAs(t, c.kind), id.New[id.Any]()
		o.username, o.password, o.server.lose = "jane", "s3cret", 1
		if err := o.send(job); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		c.then(o)
		o.server.has = c.has
		if err := o.send(job); err != nil {
			t.Fatal(err)
		}
		o.is(c.want, "send", "withdraw 0")
	}
}

// operateAs queues an operation of any kind.
func operateAs(t *testing.T, kind events.CpeOperationKind) *operated {
	t.Helper()
	if kind != events.CpeFirmware {
		return operate(t, kind)
	}
	o := operate(t, events.CpeReboot)
	o.deploys()
	return o
}
