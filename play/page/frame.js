// Runs inside a seat's frame, before simcord's own page. Adds what a chat has and a test tool hasn't:
// typing, a file, a quick mention, Enter that is never lost, forms that are ready to be filled in.
"use strict";
(() => {
  const capability = location.hash.slice(1);
  const asked = window.fetch.bind(window);
  const headers = { "X-Simcord-Capability": capability };
  const faces = JSON.parse(document.querySelector('meta[name="play-faces"]').content);
  const LONGEST = 2000;
  const kinds = new Map();
  let toastTimer = 0;
  let lastReceipt = "";
  let atEnd = true;

  // ---------------------------------------------------------------- what simcord's page asks
  window.fetch = async (resource, options) => {
    const path = String(resource instanceof Request ? resource.url : resource);
    if (path.endsWith("/api/action") && options?.body) {
      const { kind, request_id: id } = JSON.parse(options.body instanceof FormData ? options.body.get("payload") : options.body);
      kinds.set(id, kind);
      // Who speaks or runs a command wants to see what comes of it.
      if (["send_message", "run_command"].includes(kind)) goToTheEnd();
    }
    const response = await asked(resource, options);
    if (path.includes("/api/state")) {
      showTyping(response.headers.get("X-Play-Typing") === "1");
      document.documentElement.classList.toggle("play-has-apps", response.headers.get("X-Play-Apps") === "1");
      // The lease of a page that slept for long ends; a new one is one reload away.
      if (response.status === 410) location.reload();
      if (response.status === 401) parent.postMessage({ play: "lost" }, location.origin);
    }
    return response;
  };

  function showTyping(on) {
    document.querySelector(".play-typing")?.classList.toggle("is-on", on);
  }

  function toast(text) {
    document.querySelector(".play-toast")?.remove();
    if (!text) return;
    const box = Object.assign(document.createElement("div"), { className: "play-toast", textContent: text });
    box.setAttribute("role", "alert");
    const form = document.getElementById("channel-composer")?.getBoundingClientRect();
    if (form?.height) box.style.bottom = `${innerHeight - form.top + 8}px`;
    document.body.append(box);
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => box.remove(), 6000);
  }

  // simcord reports on its toolbar, which isn't shown here; Discord tells the person beneath the message.
  function watchReceipts() {
    const receipt = window.simcordPreview?.lastAction;
    if (!receipt || receipt.correlation === lastReceipt) return;
    lastReceipt = receipt.correlation;
    if (kinds.get(receipt.requestId) === "focus") return; // whoever looks for a message is told by ``show``
    if (receipt.acknowledgement === "unacknowledged") toast("The application did not respond.");
    else if (receipt.rejected || receipt.settlement === "failed") toast("That can't be done now. Try it again.");
  }

  // ---------------------------------------------------------------- composer
  function composerInput() { return document.getElementById("channel-composer-input"); }

  function write(text) {
    const input = composerInput();
    if (!(input instanceof HTMLTextAreaElement)) return;
    input.value = text;
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    input.focus();
    input.setSelectionRange(text.length, text.length);
  }

  function mentionBot() {
    const input = composerInput();
    if (input instanceof HTMLTextAreaElement && !/@keepsake/i.test(input.value)) write(`@Keepsake ${input.value}`);
    input?.focus();
  }

  // Discord counts a mention as it is sent, <@id>, and refuses an over-long message without touching it.
  const names = new RegExp(`(?<![\\w<@])@(?:${Object.keys(faces).join("|")})\\b`, "gi");
  function lengthOf(text) { return [...text.replace(names, "<@1440000000000000000>")].length; }

  function tooLong(text) {
    const length = lengthOf(text);
    if (length <= LONGEST) return false;
    toast(`Your message is too long. Messages are limited to 2,000 characters; this one has ${length.toLocaleString("en-US")}.`);
    return true;
  }

  function countLetters() {
    const counter = document.querySelector(".play-count");
    const left = LONGEST - lengthOf(composerInput()?.value || "");
    if (!counter) return;
    counter.hidden = left > 200;
    counter.textContent = left.toLocaleString("en-US");
    counter.classList.toggle("is-over", left < 0);
  }

  async function attach(file) {
    const input = composerInput();
    if (input instanceof HTMLTextAreaElement && tooLong(input.value)) return;
    const form = new FormData();
    form.append("file", file, file.name);
    form.append("text", input instanceof HTMLTextAreaElement ? input.value : "");
    const response = await asked("/play/upload", { method: "POST", headers, body: form }).catch(() => null);
    if (!response?.ok) { toast("The file couldn't be sent."); return; }
    const said = (await response.json()).said;
    if (said) toast(said); else write("");
  }

  function furnishComposer() {
    const form = document.getElementById("channel-composer");
    const row = form?.querySelector(".composer-row");
    if (!form || !row) return;
    const picker = Object.assign(document.createElement("input"), { type: "file", hidden: true });
    picker.addEventListener("change", () => { if (picker.files?.[0]) void attach(picker.files[0]); picker.value = ""; });
    const add = Object.assign(document.createElement("button"), { type: "button", className: "play-attach", textContent: "+", title: "Send a file with this message" });
    add.setAttribute("aria-label", add.title);
    add.addEventListener("click", () => picker.click());
    const mention = Object.assign(document.createElement("button"), { type: "button", className: "play-mention", textContent: "@Keepsake", title: "Speak to the bot" });
    mention.addEventListener("click", mentionBot);
    row.prepend(add, picker);
    const counter = Object.assign(document.createElement("span"), { className: "play-count", hidden: true, title: "Characters left" });
    row.insertBefore(mention, document.getElementById("send-message"));
    row.insertBefore(counter, mention);
    composerInput()?.removeAttribute("maxlength"); // it would cut what is pasted, and say nothing
    setInterval(countLetters, 150);
    form.addEventListener("submit", (event) => {
      const input = composerInput();
      if (!(input instanceof HTMLTextAreaElement) || !tooLong(input.value)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);

    const typing = document.createElement("div");
    typing.className = "play-typing";
    typing.setAttribute("role", "status");
    const dots = document.createElement("span");
    dots.className = "play-dots";
    dots.append(...[1, 2, 3].map(() => document.createElement("i")));
    const who = document.createElement("span");
    who.innerHTML = "<strong>Keepsake</strong> is typing…";
    typing.append(dots, who);
    form.after(typing);

    // In a direct message the bot is spoken to anyway.
    const hash = document.querySelector(".channel-header .channel-hash");
    if (hash) new MutationObserver(() => { mention.hidden = hash.textContent === "@"; }).observe(hash, { childList: true, characterData: true, subtree: true });

    // With only optional options left, Discord runs the command; simcord would open the first option.
    let walked = false;
    form.addEventListener("keydown", (event) => {
      const chip = event.target.closest?.(".command-chip");
      if (event.key === "ArrowDown" || event.key === "ArrowUp") walked = Boolean(chip);
      else if (event.key === "Enter" && chip && !walked && !event.isComposing) {
        event.preventDefault();
        event.stopImmediatePropagation();
        form.requestSubmit();
      } else walked = false;
    }, true);

    // simcord drops Enter while it waits for an earlier answer; a chat sends it a moment later.
    form.addEventListener("keydown", (event) => {
      const send = document.getElementById("send-message");
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target !== composerInput()) return;
      if (!(send instanceof HTMLButtonElement) || !send.disabled || !composerInput()?.value.trim()) return;
      if (form.querySelector(".command-popup:not([hidden])")) return; // it picks a command, and sends nothing
      event.preventDefault();
      event.stopImmediatePropagation();
      const until = Date.now() + 8000;
      const again = () => {
        if (!send.disabled) form.requestSubmit();
        else if (Date.now() < until) setTimeout(again, 60);
      };
      again();
    }, true);
  }

  // ---------------------------------------------------------------- staying at the newest message
  // simcord follows only from the very last pixel, and not in a tab in the background.
  let handUntil = 0;
  let latestWanted = false;
  function timeline() { return document.getElementById("channel-timeline"); }

  function goToTheEnd() {
    atEnd = latestWanted = true;
    handUntil = 0; // a scroll that is still under way was meant for what stood there before
    follow();
  }

  function follow() {
    const box = timeline();
    // Whoever had gone far up is shown the channel's last page, which isn't drawn there.
    if (latestWanted && window.simcordPreview?.ready) {
      latestWanted = false;
      if (!document.getElementById("history-newer")?.hidden) document.getElementById("new-messages")?.click();
    }
    if (box && atEnd && box.scrollHeight - box.scrollTop - box.clientHeight > 1) box.scrollTop = box.scrollHeight;
    document.body.classList.toggle("play-at-end", atEnd);
  }

  function keepAtTheEnd() {
    const box = timeline();
    if (!box) return;
    const byHand = () => { handUntil = Date.now() + 700; };
    for (const kind of ["wheel", "touchmove", "pointerdown"]) box.addEventListener(kind, byHand, { passive: true });
    document.addEventListener("keydown", (event) => {
      const elsewhere = event.target.closest?.("#channel-composer, [role=dialog], [role=menu], [role=combobox]");
      if (!elsewhere && ["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"].includes(event.key)) byHand();
    });
    box.addEventListener("scroll", () => {
      if (Date.now() < handUntil) { atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60; follow(); }
    }, { passive: true });
    document.getElementById("new-messages")?.addEventListener("click", () => { atEnd = true; follow(); });
    document.getElementById("history-older")?.addEventListener("click", () => { atEnd = false; });
    setInterval(follow, 250);
  }

  // ---------------------------------------------------------------- what simcord's forms leave out
  // Discord offers an option's choices at once; simcord asks for them after the first letter.
  function watchOptions() {
    const form = document.getElementById("channel-composer");
    if (!form) return;
    const asking = () => window.simcordPreview?.commandPicker?.autocomplete?.state === "loading";
    form.addEventListener("focusin", (event) => {
      const field = event.target;
      if (!field.matches?.(".command-option-input[aria-autocomplete]")) return;
      setTimeout(() => {
        const popup = form.querySelector(".command-popup:not([hidden])");
        if (!popup?.querySelector("[data-completes]") || !popup.querySelector(".command-empty") || asking()) return;
        if (field.value) popup.hidden = true; // chosen already
        else field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      });
    });
    form.addEventListener("input", () => showWhole(form));
    window.addEventListener("resize", () => showWhole(form));
    // Whoever chooses with the mouse goes on in the same field.
    form.addEventListener("mousedown", (event) => { if (event.target.closest?.(".command-suggestion")) event.preventDefault(); });
    new MutationObserver(() => {
      showWhole(form);
      const heading = form.querySelector(".command-popup:not(.is-browsing) .command-popup-heading");
      const empty = form.querySelector(".command-popup:not(.is-browsing) .command-empty");
      if (heading?.textContent.startsWith("OPTIONS MATCHING")) heading.dataset.completes = "1";
      if (heading?.textContent === "OPTIONS MATCHING ") heading.textContent = "OPTIONS";
      if (empty?.textContent === "No options match" && asking()) empty.textContent = "Loading options…";
    }).observe(form, { childList: true, subtree: true });
  }

  // A value that is longer than its field can be read beneath it.
  function showWhole(form) {
    for (const field of form.querySelectorAll(".command-option-input")) {
      const pill = field.closest(".command-pill");
      if (field.scrollWidth > field.clientWidth) pill.dataset.whole = field.value;
      else delete pill.dataset.whole;
    }
  }

  // simcord gives a dialog's × the focus; whoever opens one wants to write.
  function watchDialogs() {
    const root = document.getElementById("modal-root");
    if (!root) return;
    let open = false;
    new MutationObserver(() => {
      const was = open;
      open = Boolean(root.querySelector(".modal-dialog"));
      if (open && !was) requestAnimationFrame(() => {
        const first = [...root.querySelectorAll(".modal-fields :is(input, textarea, select, button), .modal-actions [type=submit]")]
          .find((field) => !field.disabled && field.tabIndex >= 0 && field.checkVisibility());
        first?.focus();
        if (first instanceof HTMLTextAreaElement || first?.type === "text") first.setSelectionRange(first.value.length, first.value.length);
      });
    }).observe(root, { childList: true, subtree: true });
  }

  window.addEventListener("message", (event) => {
    if (event.origin !== location.origin || event.source !== parent) return;
    if (event.data?.play === "write") write(String(event.data.text));
    if (event.data?.play === "show") window.play.show(String(event.data.message));
    if (event.data?.play === "toast") toast(String(event.data.text));
  });

  window.play = { asked, headers, faces, kinds, toast, goToTheEnd, leaveTheEnd: () => { atEnd = latestWanted = false; follow(); } };

  document.addEventListener("DOMContentLoaded", () => {
    furnishComposer();
    const list = document.getElementById("channel-message-list");
    if (list) new MutationObserver(() => { window.play.furnishMessages(); follow(); }).observe(list, { childList: true, subtree: true });
    keepAtTheEnd();
    watchOptions();
    watchDialogs();
    setInterval(watchReceipts, 300);
    for (const kind of ["pointerdown", "input"]) document.addEventListener(kind, () => toast(""), { passive: true });
    parent.postMessage({ play: "ready" }, location.origin);
  });
})();
