package subscribersapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
)

// ispKit adds the helpers of these tests to the platform without money.
type ispKit struct{ *isptest.Kit }

// newISPKit starts a kit that stops with the test.
func newISPKit(t *testing.T) *ispKit {
	t.Helper()
	return &ispKit{isptest.New(t)}
}

// moneyKit adds the helpers of these tests to the platform with money.
type moneyKit struct{ *moneytest.Kit }

// newMoneyKit starts a kit that stops with the test.
func newMoneyKit(t *testing.T, o moneytest.Options) *moneyKit {
	t.Helper()
	return &moneyKit{moneytest.New(t, o)}
}
