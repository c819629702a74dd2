"""A message as an e-mail: plain text, in one thread for each notice.

Belongs here: headers and text.
"""

from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from phaseline.engine.products.notices.fold.bodies import wording
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage
from phaseline.schemas.records import SECOND

PRIORITY = {"critical": "high", "warning": "normal", "info": "low"}


def mail(message: NoticeMessage, sender: str, to: tuple[str, ...], host: str) -> EmailMessage:
    """The e-mail. host: what stands behind the @ of its ids. Raises `ValueError` for addresses that are none."""
    found, thread = EmailMessage(policy=SMTP), f"<{message.thread}.notice@{host}>"
    found["Subject"] = wording.title(message)
    found["From"] = sender
    found["To"] = ", ".join(to)
    found["Date"] = format_datetime(datetime.fromtimestamp(message.now // SECOND, UTC))
    found["Message-ID"] = f"<{message.id}@{host}>"
    found["In-Reply-To"] = found["References"] = thread
    found["Auto-Submitted"] = "auto-generated"
    found["Importance"] = "normal" if message.is_over else PRIORITY.get(message.severity, "normal")
    found.set_content(f"{wording.title(message)}\n\n{wording.text(message)}\n")
    return found
