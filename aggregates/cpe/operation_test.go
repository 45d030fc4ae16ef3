package cpe_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// One operation of these tests, and what can happen to it.
var (
	write   = id.Derive[id.CPEOperation]("test", "write")
	values  = id.Derive[id.Secret]("test", "values")
	subject = events.CpeOperationSubject{OperationID: write, CpeID: box, OrgID: acme}
	queue   = commands.QueueCpeOperation{
		OperationID: write, CpeID: box, OrgID: acme, SubscriberID: amina, Kind: events.CpeWifi, ValuesRef: values,
		CallNow: true,
	}
	queued = events.CpeOperationQueued{
		CpeOperationSubject: subject, SubscriberID: amina, Kind: events.CpeWifi, ValuesRef: values, CallNow: true,
		ExpiresAt: now.Add(24 * time.Hour), At: now,
	}
	began     = events.CpeOperationBegan{CpeOperationSubject: subject, At: now}
	tasks     = []events.CpeTask{{ID: "5403908ef28ea3a25c138adc", Name: "setParameterValues"}}
	sent      = events.CpeOperationSent{CpeOperationSubject: subject, Tasks: tasks, Call: "ok", At: now}
	confirmed = events.CpeOperationConfirmed{CpeOperationSubject: subject, At: now}
	failed    = events.CpeOperationFailed{CpeOperationSubject: subject, Code: "cwmp.9007", Message: "no", At: now}
	expired   = events.CpeOperationExpired{CpeOperationSubject: subject, At: now}

	begin   = commands.BeginCpeOperation{OperationID: write}
	report  = commands.ReportCpeOperationSent{OperationID: write, Tasks: tasks, Call: "ok"}
	confirm = commands.ConfirmCpeOperation{OperationID: write}
	fail    = commands.FailCpeOperation{OperationID: write, Code: "cwmp.9007", Message: "no"}
	expire  = commands.ExpireCpeOperation{OperationID: write}
)

// operation begins a scenario.
func operation(
	t *testing.T, list ...events.CpeOperationEvent,
) *decidertest.Scenario[cpe.Operation, commands.CpeOperationCommand, events.CpeOperationEvent] {
	t.Helper()
	return decidertest.For(t, cpe.Operations(), now).Given(list...)
}

func TestOperation_GoesFromTheRequestToItsOutcome(t *testing.T) {
	t.Parallel()
	operation(t).When(queue).Then(queued).BelongsTo(acme, "cpe_operation_not_found")
	operation(t, queued).When(queue).ThenNothing()
	operation(t, queued).When(begin).Then(began)
	operation(t, queued, began).When(begin).ThenNothing() // somebody else is asking the server
	operation(t, queued, began).When(report).Then(sent)
	operation(t, queued, began, sent).When(report).ThenNothing()
	reads, read := report, sent
	reads.Tasks = append(tasks[:1:1], events.CpeTask{ID: "5403908ef28ea3a25c138add", Name: "getParameterValues"})
	read.Tasks = reads.Tasks
	operation(t, queued, began, sent).When(reads).Then(read)
	operation(t, queued, began, sent, read).When(reads).ThenNothing()
	others := reads
	others.Tasks = reads.Tasks[1:]
	operation(t, queued, began, sent).When(others).ThenNothing()
	operation(t, queued, began, sent).When(confirm).Then(confirmed)
	operation(t, queued, began).When(confirm).Then(confirmed) // after a crash it was found done
	operation(t, queued).When(confirm).ThenNothing()
	for _, far := range [][]events.CpeOperationEvent{{queued}, {queued, began}, {queued, began, sent}} {
		operation(t, far...).When(fail).Then(failed)
		operation(t, far...).When(expire).ThenNothing()
	}
}

// TestOperation_TheFirstOutcomeStands, whatever is found or reported afterwards.
func TestOperation_TheFirstOutcomeStands(t *testing.T) {
	t.Parallel()
	for _, end := range []events.CpeOperationEvent{confirmed, failed, expired} {
		for _, late := range []commands.CpeOperationCommand{report, confirm, fail, expire} {
			operation(t, queued, began, sent, end).When(late).ThenNothing()
		}
		operation(t, queued, began, sent, end).When(begin).ThenFails("cpe_operation_over")
	}
	for _, c := range []commands.CpeOperationCommand{begin, report, confirm, fail, expire} {
		operation(t).When(c).ThenFails("cpe_operation_not_found")
	}
}

// TestOperation_WhatInterruptsACustomerWaitsAnHour; settings wait for a day, and firmware for the end of a download.
func TestOperation_WhatInterruptsACustomerWaitsAnHour(t *testing.T) {
	t.Parallel()
	for _, kind := range events.CpeOperationKinds() {
		wait := time.Hour
		if kind == events.CpeWifi || kind == events.CpeParameters || kind == events.CpeLogin {
			wait = 24 * time.Hour
		}
		asked, made := queue, queued
		if kind == events.CpeFirmware {
			wait, asked.Deployed = 3*time.Hour, &events.CpeDeployed{CampaignID: campaign}
			made.Deployed = asked.Deployed
		}
		asked.Kind, made.Kind, made.ExpiresAt = kind, kind, now.Add(wait)
		operation(t).When(asked).Then(made)
		over := now.Add(wait)
		operation(t, made).At(over.Add(-time.Second)).When(expire).ThenNothing()
		operation(t, made).At(over).When(begin).ThenFails("cpe_operation_over") // it is not begun any more
		ended := expired
		ended.At = over
		operation(t, made).At(over).When(expire).Then(ended)
	}
}

// TestQueueCpeOperation_NamesAreParametersThatPeopleMayWrite: nothing that leads a device to another server, and no
// password, which would be kept with the operation.
func TestQueueCpeOperation_NamesAreParametersThatPeopleMayWrite(t *testing.T) {
	t.Parallel()
	for name, fine := range map[string]bool{
		"Device.DeviceInfo.ProvisioningCode":                               true,
		"InternetGatewayDevice.LANDevice.1.WLANConfiguration.1.Channel":    true,
		"Device.X_HW-Vendor.Led_1.Enable":                                  true,
		"Device.WiFi.SSID.":                                                false,
		"Device":                                                           false,
		"Tags.org:acme":                                                    false,
		"Device.WiFi.SSID.1.SSID;reboot":                                   false,
		"Device.WiFi.AccessPoint.1.Security.KeyPassphrase":                 false,
		"Device.PPP.Interface.1.Password":                                  false,
		"Device.Users.User.1.X_AdminPasswd":                                false,
		"Device.ManagementServer.URL":                                      false,
		"Device.CWMPManagementServer.URL":                                  false,
		"Device.WiFi.AccessPoint.1.WPS.PIN":                                false,
		"Device.WiFi.AccessPoint.1.X_ACME_PSK":                             false,
		"Device.Routing.Spin":                                              true,
		"InternetGatewayDevice.ManagementServer.ConnectionRequestPassword": false,
		"InternetGatewayDevice.LANDevice.1.WLANConfiguration.1.PreSharedKey.1.PreSharedKey":    false,
		"InternetGatewayDevice.LANDevice.1.WLANConfiguration.1.WEPKey.1.WEPKey":                false,
		"InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.Username1": true,
	} {
		c := queue
		c.Kind, c.Names = events.CpeParameters, []string{name}
		if err := c.Validate(); (err == nil) != fine || err != nil && failure.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
