"""The forms of a page, as a browser without scripts would send them."""

from html.parser import HTMLParser


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.forms = []
        self._in = None
        self._text = None
        self._select = None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "form":
            self._in = {"action": attrs["action"], "fields": {}, "buttons": []}
            if attrs.get("method") == "post":
                self.forms.append(self._in)
        if self._in is None:
            return
        fields = self._in["fields"]
        unsent = attrs.get("type") == "file" or (attrs.get("type") == "checkbox" and "checked" not in attrs)
        if tag == "input" and not unsent and "name" in attrs:
            fields[attrs["name"]] = attrs.get("value", "")
        elif tag == "textarea":
            self._text = attrs["name"]
            fields[self._text] = ""
        elif tag == "select":
            self._select = attrs["name"]
        elif tag == "option":
            if "selected" in attrs or self._select not in fields:
                fields[self._select] = attrs.get("value")
        elif tag == "button" and "name" in attrs:
            self._in["buttons"].append(attrs["value"])

    def handle_data(self, data):
        if self._text:
            self._in["fields"][self._text] += data
        elif self._select and self._in["fields"].get(self._select) is None:
            self._in["fields"][self._select] = data

    def handle_endtag(self, tag):
        if tag == "textarea" and self._text:
            fields = self._in["fields"]
            fields[self._text] = fields[self._text].removeprefix("\n")
            self._text = None
        elif tag == "select":
            self._select = None
        elif tag == "form":
            self._in = None


def forms_of(text):
    """All forms that are posted: {"action", "fields": {name: value}, "buttons": [value]}."""
    reader = _Reader()
    reader.feed(text)
    return reader.forms


def form_of(text, action, **fields):
    """The first form that goes to `action` and has these fields."""
    for form in forms_of(text):
        if form["action"] == action and fields.items() <= form["fields"].items():
            return form
    raise AssertionError(f"no form to {action} with {fields}")


def send(client, path, action, change=None, where=None, files=None):
    """Fill in a form of the page at `path` and send it."""
    form = form_of(client.get(path).text, action, **(where or {}))
    data = {**form["fields"], **(change or {})}
    return client.post(action, data=data, files=files)
