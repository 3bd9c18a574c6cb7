# SPDX-License-Identifier: Apache-2.0
"""The settings of an account's table service at the Azure Tables door: properties, stats, and what browsers are told (CORS)."""

import unittest
from email.utils import formatdate

from tavola_test.azure import Door, account_sas, table_sas
from tavola_test.ports import free_port
from tavola_test.security_case import SecurityCase
from tavola_test.waiting import wait_for

PROPERTIES = "/?restype=service&comp=properties"
STATS = "/?restype=service&comp=stats"
OFF = "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>"
METRICS_OFF = f"<Version>1.0</Version><Enabled>false</Enabled>{OFF}"
LOGGING = f"<Logging><Version>1.0</Version><Read>true</Read><Write>false</Write><Delete>true</Delete><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging>"
LOGGING_OFF = f"<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete>{OFF}</Logging>"
HOUR = f"<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>{OFF}</HourMetrics>"
HOUR_OFF = f"<HourMetrics>{METRICS_OFF}</HourMetrics>"
MINUTE_OFF = f"<MinuteMetrics>{METRICS_OFF}</MinuteMetrics>"


def rule(origins="https://a.example", methods="GET,PUT", age=60, exposed="x-ms-*", allowed="x-ms-*,content-type"):
    return (
        f"<CorsRule><AllowedOrigins>{origins}</AllowedOrigins><AllowedMethods>{methods}</AllowedMethods><MaxAgeInSeconds>{age}</MaxAgeInSeconds>"
        f"<ExposedHeaders>{exposed}</ExposedHeaders><AllowedHeaders>{allowed}</AllowedHeaders></CorsRule>"
    )


def document(*elements):
    return f'<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties>{"".join(elements)}</StorageServiceProperties>'


def result(reply):
    return reply.status, reply.code()


class Service(SecurityCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.settings = {"TAVOLA_HTTP_LISTEN": f"127.0.0.1:{cls.port}"}
        super().setUpClass()
        wait_for("the door", lambda: cls.stack.accepts(f"127.0.0.1:{cls.port}"))
        cls.door = Door(cls.port, cls.keys[0])
        cls.other = Door(cls.port, cls.other_keys[0], account="globex")
        cls.anonymous = Door(cls.port)

    def set(self, *elements, door=None):
        return result((door or self.door).send("PUT", PROPERTIES, document(*elements), Content_Type="application/xml"))

    def setUp(self):
        self.assertEqual(self.set(LOGGING_OFF, HOUR_OFF, MINUTE_OFF, "<Cors/>"), (202, "OK"))

    def get(self, door=None):
        reply = (door or self.door).send("GET", PROPERTIES)
        self.assertEqual(result(reply), (200, "OK"), reply.text)
        self.assertEqual(reply.headers["Content-Type"], "application/xml")
        return reply.text

    def test_what_is_not_set_stays(self):
        self.assertEqual(self.get(), document(LOGGING_OFF, HOUR_OFF, MINUTE_OFF, "<Cors></Cors>"))
        self.assertEqual(self.set(LOGGING, HOUR), (202, "OK"))
        self.assertEqual(self.set(f"<Cors>{rule()}</Cors>"), (202, "OK"))
        self.assertEqual(self.get(), document(LOGGING, HOUR, MINUTE_OFF, f"<Cors>{rule()}</Cors>"))
        self.assertEqual(self.set(HOUR_OFF), (202, "OK"))
        self.assertEqual(self.get(), document(LOGGING, HOUR_OFF, MINUTE_OFF, f"<Cors>{rule()}</Cors>"))
        self.assertEqual(self.get(self.other), document(LOGGING_OFF, HOUR_OFF, MINUTE_OFF, "<Cors></Cors>"))

    def test_what_is_refused(self):
        many = "https://a.example," * 65
        for name, elements, want in (
            ("half a part", ["<Logging><Version>1.0</Version></Logging>"], "MissingRequiredXmlNode"),
            ("no days", [LOGGING.replace("<Days>7</Days>", "")], "MissingRequiredXmlNode"),
            ("a year and a day", [LOGGING.replace("7", "366")], "InvalidXmlNodeValue"),
            ("no days at all", [LOGGING.replace("7", "0")], "InvalidXmlNodeValue"),
            ("perhaps", [LOGGING.replace("<Read>true", "<Read>perhaps")], "InvalidXmlNodeValue"),
            ("no APIs", [HOUR.replace("<IncludeAPIs>true</IncludeAPIs>", "")], "MissingRequiredXmlNode"),
            ("another part", ["<Other/>"], "UnsupportedXmlNode"),
            ("six rules", [f"<Cors>{rule() * 6}</Cors>"], "InvalidXmlDocument"),
            ("no origins", [f"<Cors>{rule(origins='')}</Cors>"], "InvalidXmlDocument"),
            ("65 origins", [f"<Cors>{rule(origins=many.rstrip(','))}</Cors>"], "InvalidXmlDocument"),
            ("no methods", [f"<Cors>{rule(methods='')}</Cors>"], "InvalidXmlDocument"),
            ("another method", [f"<Cors>{rule(methods='GET,TRACE')}</Cors>"], "InvalidXmlDocument"),
            ("more than 2 KiB", [f"<Cors>{rule(exposed='x' * 2030)}</Cors>"], "InvalidXmlDocument"),
            ("no age", ["<Cors>" + rule().replace("<MaxAgeInSeconds>60</MaxAgeInSeconds>", "") + "</Cors>"], "MissingRequiredXmlNode"),
            ("an age below 0", [f"<Cors>{rule(age=-1)}</Cors>"], "InvalidXmlNodeValue"),
            ("no XML", ["<"], "InvalidXmlDocument"),
            ("an entity", ["&a;"], "InvalidXmlDocument"),
        ):
            with self.subTest(name):
                self.assertEqual(self.set(*elements), (400, want))
        self.assertEqual(self.get(), document(LOGGING_OFF, HOUR_OFF, MINUTE_OFF, "<Cors></Cors>"))

    def test_signatures_open_what_they_say(self):
        for letters, types, reading, setting in (
            ("r", "s", (200, "OK"), (403, "AuthorizationPermissionMismatch")),
            ("w", "s", (403, "AuthorizationPermissionMismatch"), (202, "OK")),
            ("rw", "co", (403, "AuthorizationResourceTypeMismatch"), (403, "AuthorizationResourceTypeMismatch")),
        ):
            query = account_sas(self.keys[0], letters, resources=types)
            with self.subTest(f"{letters} {types}"):
                self.assertEqual(result(self.anonymous.send("GET", PROPERTIES, query=query)), reading)
                self.assertEqual(result(self.anonymous.send("PUT", PROPERTIES, document(HOUR_OFF), query=query)), setting)
        table = table_sas(self.keys[0], "People", "raud")
        self.assertEqual(result(self.anonymous.send("GET", PROPERTIES, query=table)), (403, "AuthorizationFailure"))
        self.assertEqual(result(self.anonymous.send("PUT", PROPERTIES, document(HOUR_OFF), query=table)), (403, "AuthorizationFailure"))
        self.assertEqual(result(self.anonymous.send("GET", PROPERTIES)), (401, "NoAuthenticationInformation"))

    def test_stats_are_those_of_the_secondary(self):
        self.assertEqual(result(self.door.send("GET", STATS)), (400, "InvalidQueryParameterValue"))
        secondary = Door(self.port, self.keys[0])
        headers = {"x-ms-date": formatdate(usegmt=True)}
        headers["Authorization"] = secondary.authorization("GET", "/acme" + STATS, headers)
        reply = secondary.raw("GET", "/acme-secondary" + STATS, None, headers)
        self.assertEqual(result(reply), (200, "OK"), reply.text)
        self.assertRegex(
            reply.text, "<StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>..., .* GMT</LastSyncTime>"
            "</GeoReplication></StorageServiceStats>$")

    # ---- browsers

    def preflight(self, origin="https://a.example", method="PUT", headers="content-type", **more):
        named = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers, **more}
        return self.anonymous.raw("OPTIONS", "/acme/People", None, {name: value for name, value in named.items() if value is not None})

    def test_preflight(self):
        self.assertEqual(result(self.preflight()), (403, "CorsPreflightFailure"))
        self.set(f"<Cors>{rule()}{rule(origins='https://*.b.example', methods='DELETE', allowed='')}</Cors>")
        wait_for("the rules", lambda: self.preflight().status == 200)
        reply = self.preflight()
        self.assertEqual(
            {name: reply.headers[name] for name in reply.headers if name.startswith("Access-Control")},
            {"Access-Control-Allow-Origin": "https://a.example", "Access-Control-Allow-Credentials": "true",
             "Access-Control-Allow-Methods": "PUT", "Access-Control-Allow-Headers": "content-type", "Access-Control-Max-Age": "60"})
        for name, given, want in (
            ("a subdomain", {"origin": "https://x.b.example", "method": "DELETE", "headers": None}, (200, "OK")),
            ("its parent", {"origin": "https://b.example", "method": "DELETE", "headers": None}, (403, "CorsPreflightFailure")),
            ("another case", {"origin": "https://A.example"}, (403, "CorsPreflightFailure")),
            ("another method", {"method": "DELETE"}, (403, "CorsPreflightFailure")),
            ("a prefix", {"headers": "X-MS-Date, Content-Type"}, (200, "OK")),
            ("another header", {"headers": "content-type,authorization"}, (403, "CorsPreflightFailure")),
            ("no headers", {"headers": None}, (200, "OK")),
            ("no origin", {"origin": None}, (400, "InvalidHeaderValue")),
            ("no method", {"method": None}, (400, "InvalidHeaderValue")),
        ):
            with self.subTest(name):
                self.assertEqual(result(self.preflight(**given)), want)
        self.assertIn("<Message>A required CORS header is not present.\n", self.preflight(origin=None).text)

    def call(self, path="/People()", origin="https://a.example", **more):
        reply = self.door.send("GET", path, Origin=origin, **more)
        return {name: reply.headers[name] for name in reply.headers if name.startswith("Access-Control") or name == "Vary"}

    def test_calls_of_pages(self):
        self.set(f"<Cors>{rule()}</Cors>")
        exact = {"Access-Control-Allow-Origin": "https://a.example", "Access-Control-Allow-Credentials": "true",
                 "Access-Control-Expose-Headers": "x-ms-*", "Vary": "Origin"}
        wait_for("the rules", lambda: self.call() == exact)
        self.assertEqual(self.call("/Nothing()"), exact)
        self.assertEqual(self.call(origin="https://b.example"), {"Vary": "Origin"})
        self.assertEqual(self.call(origin=None), {"Vary": "Origin"})
        self.assertEqual(self.call(Authorization="SharedKey acme:x"), exact)
        self.set(f"<Cors>{rule(origins='*')}</Cors>")
        every = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "x-ms-*"}
        wait_for("the rules", lambda: self.call() == every)
        self.set("<Cors/>")
        wait_for("the end of the rules", lambda: self.call() == {})


if __name__ == "__main__":
    unittest.main()
