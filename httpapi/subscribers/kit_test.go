package subscribersapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
)

// ispKit is the platform without money, with what these tests ask of it.
type ispKit struct{ *isptest.Kit }

// newISPKit starts it.
func newISPKit(t *testing.T) *ispKit {
	t.Helper()
	return &ispKit{isptest.New(t)}
}

// moneyKit is the platform with money, with what these tests ask of it.
type moneyKit struct{ *moneytest.Kit }

// newMoneyKit starts it.
func newMoneyKit(t *testing.T, o moneytest.Options) *moneyKit {
	t.Helper()
	return &moneyKit{moneytest.New(t, o)}
}
