package messagingcases

import (
	"maps"

	"github.com/lastmile-isp/lastmile/events"
)

// swahiliTemplates are the Swahili ones.
func swahiliTemplates() Templates {
	all := swahiliPayments()
	maps.Copy(all, swahiliCaps())
	maps.Copy(all, swahiliSignIns())
	all[events.NoticeOutage] = events.MessageTexts{
		SMS:     "{org}: hakuna intaneti ulipo tangu {since}. Tunashughulikia. {what}",
		Subject: "{org}: hakuna intaneti ulipo",
		Text: "Mteja mpendwa,\n\nintaneti ya akaunti {account} ({plan}) haipo tangu {since}. Tunashughulikia, " +
			"na huna " +
			"haja ya kupiga simu.\n\n{what}\n{org}\n",
	}
	all[events.NoticeOutageOver] = events.MessageTexts{
		SMS:     "{org}: intaneti ya akaunti {account} inafanya kazi tena. Samahani kwa usumbufu.",
		Subject: "{org}: intaneti yako inafanya kazi tena",
		Text: "Mteja mpendwa,\n\nintaneti ya akaunti {account} ({plan}) inafanya kazi tena, baada ya kukatika tangu " +
			"{since}. Samahani kwa usumbufu.\n{org}\n",
	}
	all[events.NoticeIssued] = events.MessageTexts{
		SMS:     "{org}: ankara {number} ya {amount}, akaunti {account}, mwisho {due}. {pay}",
		Subject: "{org}: ankara {number}",
		Text: "Mteja mpendwa,\n\nhii ni ankara {number} ya {amount} kwa akaunti {account}. Mwisho wa kulipa ni {due}." +
			"\n\n{pay}\n{org}\n",
	}
	all[events.NoticeReceipt] = events.MessageTexts{
		SMS:     "{org}: {amount} imepokelewa, akaunti {account}, {code}. {until} {rest}",
		Subject: "{org}: {amount} imepokelewa",
		Text: "Mteja mpendwa,\n\nasante: tumepokea {amount} kwa akaunti {account}. Risiti: {code}.\n\n" +
			"{until} {rest}\n{org}\n",
	}
	all[events.NoticeSupport] = events.MessageTexts{
		SMS:     "{org}: tumejibu ombi lako la msaada. Lisome kwenye {portal}",
		Subject: "{org}: tumejibu ombi lako la msaada",
		Text: "Mteja mpendwa,\n\ntumejibu ombi lako la msaada la akaunti {account}. Lisome, na utuandikie tena, " +
			"kwenye\n\n{portal}\n\n{org}\n",
	}
	all[events.NoticeInvoice] = events.MessageTexts{
		SMS:     "{org}: ankara {number} ya {amount}, akaunti {account}. Namba ya kodi {control}.",
		Subject: "{org}: ankara {number}",
		Text: "Mteja mpendwa,\n\nhii ni ankara {number} ya {amount} kwa akaunti {account}. Mamlaka ya kodi " +
			"imeisaini kwa " +
			"namba {control}; ithibitishe kwenye\n\n{verification}\n\nDeni lolote linaweza kulipwa kwenye " +
			"{link}\n{org}\n",
	}
	return all
}

// swahiliPayments are the Swahili ones about what is to be paid, and about access.
func swahiliPayments() Templates {
	return Templates{
		events.ReminderBefore: {
			SMS:     "{org}: {amount} inatakiwa kufikia {due}, akaunti {account}. {pay}",
			Subject: "{org}: {amount} inatakiwa kufikia {due}",
			Text: "Mteja mpendwa,\n\ntafadhali lipa {amount} kufikia {due} kwa akaunti {account} " +
				"({plan}).\n\n{pay}\n\n" +
				"Kama umeshalipa, asante.\n{org}\n",
		},
		events.ReminderDue: {
			SMS:     "{org}: leo ni siku ya mwisho kulipa {amount}, akaunti {account}. {pay}",
			Subject: "{org}: leo ni siku ya mwisho kulipa {amount}",
			Text: "Mteja mpendwa,\n\nleo ni siku ya mwisho kulipa {amount} kwa akaunti {account} " +
				"({plan}).\n\n{pay}\n\n" +
				"Kama umeshalipa, asante.\n{org}\n",
		},
		events.ReminderOverdue: {
			SMS:     "{org}: {amount} ilitakiwa {due}, akaunti {account}. Huduma isiyolipiwa hukatwa. {pay}",
			Subject: "{org}: {amount} imechelewa",
			Text: "Mteja mpendwa,\n\n{amount} kwa akaunti {account} ({plan}) ilitakiwa kufikia {due}. Tafadhali lipa " +
				"mapema: intaneti ya akaunti zisizolipiwa hukatwa.\n\n{pay}\n\nKama umeshalipa, asante.\n{org}\n",
		},
		events.NoticeGarden: {
			SMS:     "{org}: intaneti imewekewa mipaka, {amount} imechelewa, akaunti {account}. {pay}",
			Subject: "{org}: intaneti yako imewekewa mipaka",
			Text: "Mteja mpendwa,\n\n{amount} kwa akaunti {account} ({plan}) imechelewa, na ukurasa wa malipo tu " +
				"unafikika. Intaneti itarudi yenyewe ukilipa.\n\n{pay}\n{org}\n",
		},
		events.NoticeSuspended: {
			SMS:     "{org}: intaneti imekatwa, {amount} imechelewa, akaunti {account}. {pay}",
			Subject: "{org}: intaneti yako imekatwa",
			Text: "Mteja mpendwa,\n\n{amount} kwa akaunti {account} ({plan}) imechelewa, na intaneti yako imekatwa. " +
				"Itarudi yenyewe ukilipa.\n\n{pay}\n{org}\n",
		},
		events.NoticeRestored: {
			SMS:     "{org}: asante, intaneti ya akaunti {account} imerudi.",
			Subject: "{org}: intaneti yako imerudi",
			Text:    "Mteja mpendwa,\n\nasante: intaneti ya akaunti {account} ({plan}) imerudi.\n{org}\n",
		},
	}
}

// swahiliCaps are the Swahili ones about what a cap allows.
func swahiliCaps() Templates {
	const more = "\n\nKuongeza kabla ya hapo, wasiliana nasi kwa namba ya akaunti {account}.\n{org}\n"
	return Templates{
		events.NoticeCapWarned: {
			SMS: "{org}: umetumia {used} kati ya {allowed}. Ikiisha, intaneti {then} hadi {resets}. Kuongeza: " +
				"{account}.",
			Subject: "{org}: umetumia {used} kati ya {allowed}",
			Text: "Mteja mpendwa,\n\n{used} kati ya {allowed} za akaunti {account} ({plan}) zimetumika. " +
				"Zikiisha zote, " +
				"intaneti {then} hadi {resets}." + more,
		},
		events.NoticeCapThrottled: {
			SMS:     "{org}: {allowed} zote zimeisha, intaneti ni ya polepole hadi {resets}. Kuongeza: {account}.",
			Subject: "{org}: intaneti ni ya polepole hadi {resets}",
			Text: "Mteja mpendwa,\n\n{used} kati ya {allowed} za akaunti {account} ({plan}) zimetumika, na " +
				"intaneti ni ya " +
				"polepole hadi {resets}." + more,
		},
		events.NoticeCapStopped: {
			SMS:     "{org}: {allowed} zote zimeisha, intaneti imesimama hadi {resets}. Kuongeza: {account}.",
			Subject: "{org}: intaneti imesimama hadi {resets}",
			Text: "Mteja mpendwa,\n\n{used} kati ya {allowed} za akaunti {account} ({plan}) zimetumika, na intaneti " +
				"imesimama hadi {resets}." + more,
		},
	}
}

// swahiliSignIns are the Swahili ones about sign-ins.
func swahiliSignIns() Templates {
	return Templates{
		events.CodeToSignIn: {
			SMS:     "{org}: msimbo wako ni {otp}. Unadumu dakika 5. Hatukuombi kamwe.",
			Subject: "{org}: msimbo wako",
			Text: "Habari,\n\n{otp} ni msimbo wako wa kuingia {host}. Unadumu dakika 5.\n\nHatukuombi kamwe. Kama " +
				"hukuuomba, huenda mtu ameandika anwani yako kwa makosa.\n{org}\n",
		},
		events.CodeOfAddress: {
			SMS:     "{org}: msimbo wa kuingia kwa anwani nyingine ni {otp}. Unadumu dakika 5. Hatukuombi kamwe.",
			Subject: "{org}: msimbo wa anwani nyingine",
			Text: "Habari,\n\n{otp} ni msimbo wako wa kuingia {host} kwa anwani nyingine. Unadumu dakika 5.\n\n" +
				"Hatukuombi kamwe. Kama hukuuomba, huenda mtu ameandika anwani yako kwa makosa.\n{org}\n",
		},
		events.AddressChanged: {
			SMS:     "{org}: anwani yako ya kuingia {host} imebadilishwa. Kama si wewe, tuambie mara moja.",
			Subject: "{org}: anwani yako imebadilishwa",
			Text: "Habari,\n\nanwani yako ya kuingia {host} imebadilishwa. Kama si wewe, tuambie mara moja.\n" +
				"{org}\n",
		},
	}
}
